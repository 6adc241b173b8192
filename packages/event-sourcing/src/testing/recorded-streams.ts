import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DomainEvent, type EventMetadata, eventIdOf, genesisHash, HASH_VERSION, seal } from '../store/recorded.ts';

/** A stream as a release records it. */
export interface RecordedStream<Resource> {
  readonly stream: string;
  /** The resource as the API shows it after the last event. */
  readonly resource: Resource;
  readonly events: {
    readonly id: string;
    readonly revision: number;
    readonly type: string;
    readonly data: Record<string, unknown> & { readonly at: string };
    readonly metadata: EventMetadata;
  }[];
}

/** The stream of some events with its hash chain, as JSON. It has nothing random, so it is the same in every run. */
export const recordedStream = <Resource>(
  stream: string,
  resource: Resource,
  events: readonly DomainEvent[],
): RecordedStream<Resource> => {
  let previousHash = genesisHash(stream);
  const recorded = events.map((event, revision) => {
    const digest = createHash('sha256').update(`${stream} ${revision}`).digest();
    const cause = { actor: 'service:test', requestId: 'req_1', $correlationId: 'req_1', $causationId: 'req_1' };
    const salt = digest.subarray(16).toString('base64url');
    const { id, metadata } = seal({
      stream,
      revision,
      id: eventIdOf(uuidOf(digest)),
      event,
      metadata: { ...cause, previousHash, hashVersion: HASH_VERSION, salt },
    });
    previousHash = metadata.hash;
    return { id, revision, ...event, metadata };
  });
  return JSON.parse(JSON.stringify({ stream, resource, events: recorded })) as RecordedStream<Resource>;
};

const uuidOf = (digest: Buffer): string =>
  digest.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

/** The streams of each file of a folder, oldest release first. A release that records another shape adds a file. */
export const readRecordedVersions = <Resource>(
  folder: string,
): [version: string, streams: RecordedStream<Resource>[]][] =>
  readdirSync(folder)
    .toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true }))
    .map((file) => [
      file.replace('.json', ''),
      JSON.parse(readFileSync(join(folder, file), 'utf8')) as RecordedStream<Resource>[],
    ]);
