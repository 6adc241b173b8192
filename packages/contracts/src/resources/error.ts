import { z } from 'zod';

export const ErrorBody = z.object({
  error: z.string().describe('The kind of error, for people.'),
  message: z.string().describe('The reason, for people. The text can change.'),
  statusCode: z.int().describe('The HTTP status.'),
  code: z.string().describe('A stable identifier. Base your error handling on it. [All codes](/docs/errors)'),
  request_id: z.string().describe('The id of the request. Include it when you contact support.'),
  details: z
    .array(
      z.object({
        path: z.string().describe('The field or parameter, like `items.0.unit_price`.'),
        message: z.string().describe('What is wrong with it.'),
      }),
    )
    .optional()
    .describe('Only with status 400: one entry per invalid field or parameter, 20 at most.'),
});
export type ErrorBody = z.infer<typeof ErrorBody>;
