import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RecordedStream } from './record.ts';

const FOLDER = join(import.meta.dirname, 'recorded');

/** Streams that each release recorded, oldest first. A release that records another shape adds a file. */
export const recordedVersions = (): [version: string, streams: RecordedStream[]][] =>
  readdirSync(FOLDER)
    .toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true }))
    .map((file) => [
      file.replace('.json', ''),
      JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as RecordedStream[],
    ]);
