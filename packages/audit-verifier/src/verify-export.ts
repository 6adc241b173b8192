import { type Checkpoint, CheckpointError, isSignedBy, readCheckpoint } from './checkpoint.ts';
import { earlierExport } from './earlier-export.ts';
import { merkleTree } from './merkle-tree.ts';
import { faultOf, type Link, placeOf, readEvent, type RecordedEvent } from './recorded-event.ts';

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
  /** Orders whose deletion records came into the log after the checkpoint. */
  readonly deletedSince: readonly string[];
}

type Lines = AsyncIterable<string> | Iterable<string>;

export interface VerifyOptions {
  /** The public key of the log. With it, a finding about a rewritten log says from where on. */
  readonly key?: string | undefined;
  /** The lines of an export that was kept elsewhere. */
  readonly earlier?: Lines | undefined;
}

/** Verifies the lines of an audit export against a checkpoint of the transparency log. The memory it takes grows with
 *  the number of events: about 500 bytes for each. */
export const verifyExport = async (
  lines: Lines,
  checkpoint: Checkpoint,
  { key, earlier = [] }: VerifyOptions = {},
): Promise<Verification> => {
  const findings: string[] = [];
  const kept = await earlierExport(earlier);
  /** The last event of each stream. */
  const streams = new Map<string, Link>();
  const exported = new Map<string, string>();
  /** The place of the deletion record of each deleted stream. */
  const deletedStreams = new Map<string, string>();
  const log = logOf(checkpoint, { key, findings });
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
    kept.compare(event);
    if (event.stream === LOG) log.add(event);
    else exported.set(placeOf(event), event.hash);
    for (const stream of streamsDeletedBy(event)) deletedStreams.set(stream, placeOf(event));
  }
  log.end();
  const deleted = compareWithLog(log.entries, { exported, streams, deletedStreams, findings });
  for (const stream of deletedStreams.keys())
    if (stream.startsWith('order-') && streams.has(stream))
      findings.push(`${stream} is there, although its deletion was recorded: if it was deleted just now, export again`);
  const notLogged = eventsNotLogged(exported, new Set(log.entries), findings);
  kept.end((stream) => deletedStreams.has(stream) && !streams.has(stream), findings);
  const deletedSince = log.entries
    .slice(checkpoint.size)
    .flatMap((entry) => DELETION.exec(entry)?.groups?.orderId ?? [])
    .map((id) => `order-${id}`);
  return { findings, events: exported.size, entries: log.entries.length, deleted, notLogged, deletedSince };
};

const LOG = 'transparency-log';

/** The entry of a deletion record, with the id of the order. */
const DELETION = /^0@deletion-(?<orderId>\S+) /;

/** The streams that a deletion record says were deleted. */
const streamsDeletedBy = ({ stream, data }: RecordedEvent): string[] => {
  if (!stream.startsWith('deletion-')) return [];
  const { orderId, paymentIds } = data;
  return [`order-${String(orderId)}`, ...(Array.isArray(paymentIds) ? paymentIds : []).map((id) => `payment-${id}`)];
};

/** The transparency log as the export has it. */
const logOf = (
  checkpoint: Checkpoint,
  { key, findings }: { readonly key: string | undefined; readonly findings: string[] },
) => {
  const tree = merkleTree();
  const entries: string[] = [];
  /** The first checkpoint that the key has not signed, in words. */
  let notSigned: string | null = null;
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
      if (key !== undefined && !isSignedBy(String(event.data.checkpoint), key))
        notSigned ??= `${placeOf(event)} with entries from ${entries.length - added.length} on`;
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
          `the first ${checkpoint.size} entries of the log are not those of the checkpoint: it was rewritten` +
            (notSigned === null ? '' : `; the first checkpoint that the key has not signed is ${notSigned}`),
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
  /** The place of the deletion record of each deleted stream. */
  readonly deletedStreams: ReadonlyMap<string, string>;
  readonly findings: string[];
}

/** Finds the entries of the log whose events are not in the export. Returns how many were deleted with an order. */
const compareWithLog = (
  entries: readonly string[],
  { exported, streams, deletedStreams, findings }: Exported,
): number => {
  const next = new Map<string, number>();
  const logged = new Set(entries);
  /** The deletion records that the log does not have, with the streams that are gone by them. */
  const records = new Map<string, Set<string>>();
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
    else if (deletedStreams.has(stream) && !streams.has(stream)) {
      deleted += 1;
      const record = deletedStreams.get(stream)!;
      if (!logged.has(`${record} ${exported.get(record)}`))
        records.set(record, (records.get(record) ?? new Set()).add(stream));
    } else findings.push(`${place} was removed: entry ${index} of the log`);
  }
  for (const [record, gone] of records)
    findings.push(
      `${record} is not in the log, and says that ${[...gone].join(', ')} were deleted: it was forged, ` +
        'or the order was deleted just now: then export again',
    );
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
