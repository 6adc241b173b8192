import type { z } from 'zod';

/** A field that passes through unchanged: a request or a report has it, events record it, and resources show it. */
export interface CarriedField<
  N extends string = string,
  R extends z.ZodType = z.ZodType,
  S extends z.ZodType = z.ZodType,
> {
  /** Its name in events. */
  readonly recordedAs: N;
  /** The schema of the field in a request, with description and example. */
  readonly requested: R;
  /** The schema in events and resources: without limits, because those of requests may be tightened. */
  readonly shown: S;
}

type Fields = Readonly<Record<string, CarriedField>>;

export const carriedField = <const N extends string, R extends z.ZodType, S extends z.ZodType>({
  recordedAs,
  requested,
  shown,
  description,
  shownDescription = description,
  example,
}: CarriedField<N, R, S> & {
  readonly description: string;
  /** The description for readers of the field, if it differs. */
  readonly shownDescription?: string;
  readonly example: z.input<R>;
}): CarriedField<N, R, S> => ({
  recordedAs,
  requested: requested.meta({ description, example }),
  shown: shown.describe(shownDescription),
});

export type RequestedShape<F extends Fields> = { [K in keyof F]: F[K]['requested'] };
export type ShownShape<F extends Fields> = { [K in keyof F]: F[K]['shown'] };
export type RecordedShape<F extends Fields> = { [K in keyof F as F[K]['recordedAs']]: F[K]['shown'] };

export type Shown<F extends Fields> = z.output<z.ZodObject<ShownShape<F>>>;
export type Recorded<F extends Fields> = z.output<z.ZodObject<RecordedShape<F>>>;

/** `T`, if it has no field that `Known` has not. */
type Exactly<T, Known> = T & Record<Exclude<keyof T, keyof Known>, never>;

/** The shapes of carried fields for schemas, and their conversion between the names of resources and of events. */
export const carriedFields = <F extends Fields>(fields: F) => {
  const names = Object.entries(fields).map(([name, { recordedAs }]) => [name, recordedAs] as const);
  const namesBack = names.map(([name, recordedAs]) => [recordedAs, name] as const);
  const shape = (schemaOf: (field: CarriedField) => z.ZodType, nameOf: (name: string, field: CarriedField) => string) =>
    Object.fromEntries(Object.entries(fields).map(([name, field]) => [nameOf(name, field), schemaOf(field)]));
  return {
    requested: shape(
      ({ requested }) => requested,
      (name) => name,
    ) as RequestedShape<F>,
    shown: shape(
      ({ shown }) => shown,
      (name) => name,
    ) as ShownShape<F>,
    recorded: shape(
      ({ shown }) => shown,
      (_, { recordedAs }) => recordedAs,
    ) as RecordedShape<F>,
    /** The fields of a request or resource as events record them. It takes no further fields: they would be lost. */
    toRecorded: <T extends Shown<F>>(shown: Exactly<T, Shown<F>>): Recorded<F> => renamed(shown, names) as Recorded<F>,
    /** The fields of an event, or of a state that has them, as resources show them. */
    toShown: (recorded: Recorded<F>): Shown<F> => renamed(recorded, namesBack) as Shown<F>,
  };
};

/** The fields that a resource must have beside carried ones. An absent field is `undefined`, so none is forgotten. */
export type Rendered<R, F> = { [K in Exclude<keyof R, keyof F>]-?: R[K] | undefined };

/** The object without its fields that are `undefined`. Objects inside of it stay as they are. */
export const withoutUndefined = <T extends object>(values: T): T =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T;

const renamed = (values: object, names: readonly (readonly [from: string, to: string])[]): object => {
  const given = values as Readonly<Record<string, unknown>>;
  return Object.fromEntries(names.flatMap(([from, to]) => (given[from] === undefined ? [] : [[to, given[from]]])));
};
