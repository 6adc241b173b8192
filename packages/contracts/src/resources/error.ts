import { z } from 'zod';

export const ErrorBody = z.object({
  error: z.string(),
  message: z.string(),
  statusCode: z.int(),
  code: z.string(),
  request_id: z.string(),
  details: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
});
export type ErrorBody = z.infer<typeof ErrorBody>;
