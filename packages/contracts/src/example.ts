import { z } from 'zod';

/** The schema with an example of its values, for documents and tests. */
export const withExample = <S extends z.ZodType>(schema: S, example: z.input<S>): S => schema.meta({ example });

/** The example of a schema: its own, or that of its fields. Undefined if there is none. */
export const exampleOf = <S extends z.ZodType>(schema: S): z.input<S> => {
  const own = schema.meta()?.example;
  if (own !== undefined || !(schema instanceof z.ZodObject)) return own as z.input<S>;
  const fields = Object.entries<z.ZodType>(schema.shape).map(([name, field]) => [name, exampleOf(field)] as const);
  const given = fields.filter(([, example]) => example !== undefined);
  return (given.length > 0 ? Object.fromEntries(given) : undefined) as z.input<S>;
};
