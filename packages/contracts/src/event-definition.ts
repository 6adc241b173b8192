import { z } from 'zod';
import { Timestamp } from './ids.ts';
import type { WebhookEventType } from './resources/webhook.ts';

/** An object schema for reading: it keeps fields that it does not know, because a newer version may have written them.
 *  The TypeScript type stays closed, so writers cannot add a field that the schema does not name. */
export const openObject = <S extends z.ZodRawShape>(shape: S): z.ZodObject<S> => z.looseObject(shape);

/** Everything the contracts say about one type of event. */
export interface EventDefinition<
  T extends string = string,
  M extends string | null = string | null,
  S extends z.ZodRawShape = z.ZodRawShape,
> {
  /** Type on the event stream: past tense, noun first. */
  readonly type: T;
  /** CloudEvents type of the Kafka message, or null when the event is not published. */
  readonly message: M;
  /** The webhook events that merchants receive, in this order. The first one has the id of the message: append only. */
  readonly webhooks: readonly WebhookEventType[];
  /** One sentence for the published documents. */
  readonly summary: string;
  /** Data of a recorded event, for readers: open objects without API limits. */
  readonly recorded: z.ZodObject<S>;
  /** Data of a new event, for writers and for the published JSON Schema: values have the shape of the API's resources,
   *  unknown fields are refused. Requests are checked for their limits before. */
  readonly written: z.ZodType<z.output<z.ZodObject<S>>>;
}

/** Defines an event. `data` describes what readers accept for ever, so a field that is added later is optional.
 *  `limits` replaces fields of `data` by stricter schemas of the same type for new events; they may be tightened at any
 *  time, but a replay publishes old events under them too. */
export const defineEvent = <const T extends string, const M extends string | null, S extends z.ZodRawShape>({
  data,
  limits,
  ...definition
}: Pick<EventDefinition<T, M>, 'type' | 'message' | 'webhooks' | 'summary'> & {
  data: S;
  limits?: { readonly [F in keyof S]?: z.ZodType<z.output<S[F]>> };
}): EventDefinition<T, M, S> => ({
  ...definition,
  recorded: openObject(data),
  written: z.strictObject({ ...data, ...limits }) as unknown as z.ZodType<z.output<z.ZodObject<S>>>,
});

/** The event that a definition describes, as decoders return it and deciders emit it. */
export type EventOf<D> =
  D extends EventDefinition<infer T, string | null, infer S> ? { type: T; data: z.output<z.ZodObject<S>> } : never;

/** Schema for reading the events of a stream. It accepts an event of an unknown type, which a newer version wrote, with
 *  the data as recorded. The type does not show such events: every fold and every handler ignores types that it does
 *  not know. */
export const recordedEvent = <D extends EventDefinition>(definitions: readonly D[]): z.ZodType<EventOf<D>> =>
  withUnknownTypes(
    definitions.map(({ type, recorded }) => ({ type, schema: z.object({ type: z.literal(type), data: recorded }) })),
    z.object({ data: z.object({ at: Timestamp }) }),
  ) as unknown as z.ZodType<EventOf<D>>;

/** Schema for new events, checked before they are appended. */
export const newEvent = <D extends EventDefinition>(definitions: readonly D[]): z.ZodType<EventOf<D>> =>
  z.discriminatedUnion(
    'type',
    nonEmpty(definitions.map(({ type, written }) => z.strictObject({ type: z.literal(type), data: written }))),
  ) as unknown as z.ZodType<EventOf<D>>;

/** Checks an object by its `type` and returns it unchanged. An object of a type that is not known only needs to match
 *  `unknown`. */
export const withUnknownTypes = (
  known: readonly { readonly type: string; readonly schema: z.ZodType }[],
  unknown: z.ZodType,
): z.ZodType => {
  const schemas = new Map(known.map(({ type, schema }) => [type, schema]));
  return z.looseObject({ type: z.string() }).superRefine((value, context) => {
    const { error } = (schemas.get(value.type) ?? unknown).safeParse(value);
    for (const issue of error?.issues ?? []) context.addIssue({ ...issue });
  });
};

const nonEmpty = <T>(values: T[]) => values as [T, ...T[]];
