import { type Decider, fold } from '../decider.ts';
import { type DomainEvent, eventHash, genesisHash, type Recorded } from '../store/recorded.ts';
import { METADATA } from './metadata.ts';
import type { RecordedStream } from './recorded-streams.ts';

/** A service whose releases recorded streams of one kind of aggregate. */
interface RecordingService<State, Event extends DomainEvent, Resource> {
  /** The streams of the aggregate in each file, oldest release first. */
  readonly versions: readonly (readonly [version: string, streams: readonly RecordedStream<Resource>[]])[];
  readonly schema: { readonly parse: (event: unknown) => Event };
  readonly eventTypes: readonly string[];
  readonly decider: Pick<Decider<State, never, Event>, 'initial' | 'evolve'>;
  /** The resource as the API shows it. */
  readonly show: (state: State) => unknown;
  readonly publish: (
    recorded: Recorded<Event>,
    state: State,
  ) => { readonly data: { readonly change: unknown } } | null | undefined;
  /** Whether events that lead to a state are published. */
  readonly isPublished: (state: State) => boolean;
}

/** The tests of the events that each release of a service recorded: this version reads, folds and publishes all of
 *  them, also with the fields and events of a newer version among them. */
export const testRecordedEvents = <State, Event extends DomainEvent, Resource>({
  versions,
  schema,
  eventTypes,
  decider,
  show,
  publish,
  isPublished,
}: RecordingService<State, Event, Resource>): void => {
  const streams = versions.flatMap(([version, recorded]) =>
    recorded.map((each) => [version, each.stream, each] as const),
  );
  const viewOf = (events: readonly unknown[]): unknown =>
    json(show(fold(decider, decider.initial, events.map(schema.parse))));

  test('the committed files hold every event type', () => {
    const types = new Set(streams.flatMap(([, , { events }]) => events.map(({ type }) => type)));
    expect(types).toEqual(new Set(eventTypes));
  });

  describe.each(streams)('version %s, %s', (_version, stream, { events: recorded, resource }) => {
    const events = recorded.map(({ type, data }) => ({ type, data }));

    test('is read without loss', () => expect(events.map(schema.parse)).toEqual(events));
    test('folds to the resource that the API showed', () => expect(viewOf(events)).toEqual(resource));
    test('has an intact hash chain', () => {
      let previousHash = genesisHash(stream);
      for (const { revision, id, type, data, metadata } of recorded) {
        expect(metadata.previousHash).toBe(previousHash);
        previousHash = eventHash({ stream, revision, id, event: { type, data }, metadata });
        expect(metadata.hash).toBe(previousHash);
      }
    });

    describe('with the fields and events of a newer version', () => {
      const unknownEvent = { type: 'SomethingNewer', data: { at: events[0]!.data.at, by: 'Ana' } };
      const newer = events.flatMap(({ type, data }) => [{ type, data: withUnknownFields(data) }, unknownEvent]);

      test('keeps them as they are recorded', () => expect(newer.map(schema.parse)).toEqual(newer));
      test('folds to the same resource', () =>
        expect(withoutUnknownFields(viewOf([unknownEvent, ...newer]))).toEqual(resource));
      test('publishes the fields, and no message for the events', () => {
        let state = decider.initial;
        for (const [revision, recordedEvent] of newer.entries()) {
          const event = schema.parse(recordedEvent);
          state = decider.evolve(state, event);
          const message = publish({ stream, revision, id: EVENT_ID, event, metadata: METADATA }, state);
          const change = event.type !== unknownEvent.type && isPublished(state) ? recordedEvent.data : null;
          expect(message?.data.change ?? null).toEqual(change);
        }
      });
    });
  });
};

const EVENT_ID = 'evt_01KGA4T3G6Z5Y7X9W1V3T5R7Q9';

const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const UNKNOWN = 'field_of_a_newer_version';
/** Their keys are data. */
const MAPS = new Set(['rates', 'orphanReasons', 'sightings']);

/** Adds an unknown field to every object that is no map. */
const withUnknownFields = <T>(value: T, key = ''): T => {
  if (Array.isArray(value)) return value.map((part: unknown) => withUnknownFields(part)) as T;
  if (typeof value !== 'object' || value === null || key === 'metadata') return value;
  const parts = Object.entries(value).map(([name, part]) => [name, withUnknownFields(part as unknown, name)] as const);
  return { ...Object.fromEntries(parts), ...(!MAPS.has(key) && { [UNKNOWN]: 1 }) } as T;
};

const withoutUnknownFields = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutUnknownFields);
  if (typeof value !== 'object' || value === null) return value;
  const known = Object.entries(value).filter(([name]) => name !== UNKNOWN);
  return Object.fromEntries(known.map(([name, part]) => [name, withoutUnknownFields(part)]));
};
