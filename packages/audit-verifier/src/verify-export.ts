import { type Checkpoint, CheckpointError, readCheckpoint } from './checkpoint.ts';
import { merkleTree } from './merkle-tree.ts';
import { faultOf, type Link, readEvent, type RecordedEvent } from './recorded-event.ts';

export interface Verification {
  /** What is missing, changed or out of order, a sentence each. */
  readonly findings: readonly string[];
  /** Recorded events in the export. */
  readonly events: number;
  /** Entries of the log in the export, up to the checkpoint and after it. */
  readonly entries: number;
  /** Entries whose events were deleted with an order, by its deletion record. */
  readonly deleted: number;
  /** Events at the ends of streams that the log does not have yet. */
  readonly notLogged: number;
}

/** Verifies the lines of an audit export against a checkpoint of the transparency log. The memory it takes grows with
 *  the number of events: about 500 bytes for each. */
export const verifyExport = async (
  lines: AsyncIterable<string> | Iterable<string>,
  checkpoint: Checkpoint,
): Promise<Verification> => {
  const findings: string[] = [];
  /** The last event of each stream. */
  const streams = new Map<string, Link>();
  const exported = new Map<string, string>();
  const deletedStreams = new Set<string>();
  const log = logOf(checkpoint, findings);
  let number = 0;
  for await (const line of lines) {
    number += 1;
    const event = readEvent(line);
    if (!event) {
      findings.push(`line ${number} is not a recorded event`);
      continue;
    }
    const fault = faultOf(event, streams.get(event.stream) ?? null);
    if (fault) findings.push(`${placeOf(event)} (line ${number}): ${fault}`);
    streams.set(event.stream, { sequence: event.sequence, hash: event.hash });
    if (event.stream === LOG) log.add(event);
    else exported.set(placeOf(event), event.hash);
    for (const stream of streamsDeletedBy(event)) deletedStreams.add(stream);
  }
  log.end();
  const deleted = compareWithLog(log.entries, { exported, streams, deletedStreams, findings });
  for (const stream of deletedStreams)
    if (stream.startsWith('order-') && streams.has(stream))
      findings.push(`${stream} is there, although its deletion was recorded: if it was deleted just now, export again`);
  const notLogged = eventsNotLogged(exported, new Set(log.entries), findings);
  return { findings, events: exported.size, entries: log.entries.length, deleted, notLogged };
};

const LOG = 'transparency-log';

/** Where an event stands, as the log says it. */
const placeOf = ({ sequence, stream }: Pick<RecordedEvent, 'sequence' | 'stream'>): string => `${sequence}@${stream}`;

/** The streams that a deletion record says were deleted. */
const streamsDeletedBy = ({ stream, data }: RecordedEvent): string[] => {
  if (!stream.startsWith('deletion-')) return [];
  const { orderId, paymentIds } = data;
  return [`order-${String(orderId)}`, ...(Array.isArray(paymentIds) ? paymentIds : []).map((id) => `payment-${id}`)];
};

/** The transparency log as the export has it. */
const logOf = (checkpoint: Checkpoint, findings: string[]) => {
  const tree = merkleTree();
  const entries: string[] = [];
  let rootAtCheckpoint = checkpoint.size === 0 ? tree.root() : null;

  return {
    entries,
    /** Adds the entries of an event of the log. */
    add: (event: RecordedEvent): void => {
      const added: unknown[] = Array.isArray(event.data.entries) ? event.data.entries : [];
      for (const entry of added) {
        entries.push(String(entry));
        tree.add(String(entry));
        if (tree.size() === checkpoint.size) rootAtCheckpoint = tree.root();
      }
      const own = ownCheckpoint(event);
      if (own?.size !== tree.size() || own.root !== tree.root())
        findings.push(`${placeOf(event)}: its checkpoint is not the one of its entries`);
    },
    end: (): void => {
      if (rootAtCheckpoint === null)
        findings.push(
          `the log of the export has ${entries.length} entries, and the checkpoint is over ${checkpoint.size}: ` +
            'the end of the log was cut, or the export is older than the checkpoint',
        );
      else if (rootAtCheckpoint !== checkpoint.root)
        findings.push(
          `the first ${checkpoint.size} entries of the log are not those of the checkpoint: it was rewritten`,
        );
    },
  };
};

const ownCheckpoint = ({ data }: RecordedEvent): Checkpoint | null => {
  try {
    return readCheckpoint(String(data.checkpoint));
  } catch (error) {
    if (error instanceof CheckpointError) return null;
    throw error;
  }
};

/** An entry of the log: the place and the hash of an event. */
const ENTRY = /^(?<place>(?<sequence>\d+)@(?<stream>\S+)) (?<hash>[0-9a-f]{64})$/;

interface Exported {
  /** The hash of each event, by its place. */
  readonly exported: ReadonlyMap<string, string>;
  /** By name. */
  readonly streams: ReadonlyMap<string, unknown>;
  readonly deletedStreams: ReadonlySet<string>;
  readonly findings: string[];
}

/** Finds the entries of the log whose events are not in the export. Returns how many were deleted with an order. */
const compareWithLog = (
  entries: readonly string[],
  { exported, streams, deletedStreams, findings }: Exported,
): number => {
  const next = new Map<string, number>();
  let deleted = 0;
  for (const [index, entry] of entries.entries()) {
    const { place, sequence, stream, hash } = ENTRY.exec(entry)?.groups ?? {};
    if (place === undefined || stream === undefined) {
      findings.push(`entry ${index} of the log is not the place and the hash of an event`);
      continue;
    }
    const expected = next.get(stream) ?? 0;
    next.set(stream, expected + 1);
    const exportedHash = exported.get(place);
    if (Number(sequence) !== expected)
      findings.push(`${place}: the log has it twice, or out of order (entry ${index})`);
    else if (exportedHash === hash) continue;
    else if (exportedHash !== undefined)
      findings.push(`${place} was changed: entry ${index} of the log has another hash`);
    else if (deletedStreams.has(stream) && !streams.has(stream)) deleted += 1;
    else findings.push(`${place} was removed: entry ${index} of the log`);
  }
  return deleted;
};

/** Counts the events that the log does not have. Those before a logged event of their stream were added later. */
const eventsNotLogged = (
  exported: ReadonlyMap<string, string>,
  logged: ReadonlySet<string>,
  findings: string[],
): number => {
  /** The first one of each stream. */
  const notLogged = new Map<string, string>();
  let count = 0;
  for (const [place, hash] of exported) {
    const stream = place.slice(place.indexOf('@') + 1);
    const first = notLogged.get(stream);
    if (!logged.has(`${place} ${hash}`)) {
      count += 1;
      if (first === undefined) notLogged.set(stream, place);
    } else if (first !== undefined) {
      findings.push(`${first} was added: the log does not have it, but has later events of its stream`);
      notLogged.delete(stream);
    }
  }
  return count;
};
