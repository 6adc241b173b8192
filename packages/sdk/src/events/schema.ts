import { z } from 'zod';

/** Gives a schema the type of this version. The schema itself accepts values that a newer gateway may send. */
export const typed =
  <T>() =>
  (schema: z.ZodType): z.ZodType<T> =>
    schema as z.ZodType<T>;

/** One of the variants. An object that names none of them by its constant field is accepted as it is: a newer gateway
 *  may have more. */
export const orAnotherVariant = (variants: readonly z.ZodType[]): z.ZodType => {
  const [field, known] = constantsOf(variants as z.ZodObject[]);
  return z.looseObject({ [field]: z.string() }).transform((value, context) => {
    const index = known.indexOf(value[field] as string);
    return index < 0 ? value : checked(variants[index]!, value, context);
  });
};

/** The field that has a constant in every variant, and its constants. */
const constantsOf = (variants: readonly z.ZodObject[]): [field: string, constants: string[]] => {
  const field = Object.keys(variants[0]!.shape).find((name) =>
    variants.every(({ shape }) => shape[name] instanceof z.ZodLiteral),
  )!;
  return [field, variants.map(({ shape }) => String((shape[field] as z.ZodLiteral).value))];
};

/** Checks a message by its `type`. A message of an unknown type, which a newer gateway published, only needs the
 *  attributes of the envelope; its data stays as it is. */
export const messageSchema = <Message>(
  attributes: z.ZodObject,
  schemas: Readonly<Record<string, z.ZodType>>,
): z.ZodType<Message> => {
  const ofUnknownType = attributes.loose();
  return z.looseObject({ type: z.string() }).transform((value, context) => {
    const known = Object.hasOwn(schemas, value.type) ? schemas[value.type] : undefined;
    return checked(known ?? ofUnknownType, value, context);
  }) as unknown as z.ZodType<Message>;
};

const checked = (schema: z.ZodType, value: unknown, context: z.RefinementCtx): unknown => {
  const { data, error } = schema.safeParse(value);
  for (const issue of error?.issues ?? []) context.addIssue({ ...issue });
  return error ? z.NEVER : data;
};
