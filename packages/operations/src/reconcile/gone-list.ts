import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** What no event of the store results in any more: a row, a delivery with its event, or a Kafka message. */
type Gone = Readonly<{ kind: 'row' | 'delivery' | 'message'; where: string; id: string; content: unknown }>;

export interface GoneList {
  readonly add: (gone: Gone) => void;
  readonly of: (where: string) => { readonly count: number; readonly ids: readonly string[] };
  readonly total: () => number;
  /** Makes the file durable. Resolves to its path; null when nothing is gone. */
  readonly close: () => string | null;
}

const IDS_SHOWN = 10;

/** Writes everything that is gone to a new file in `folder`, one line of JSON each, and counts it. */
export const goneList = (folder: string, name: string, now: Date): GoneList => {
  const path = resolve(join(folder, `store-reconcile-${name}-${now.toISOString().replaceAll(/[-:.]/g, '')}.ndjson`));
  const places = new Map<string, { count: number; ids: string[] }>();
  let file: number | undefined;
  return {
    add: (gone) => {
      // It holds data of orders.
      file ??= openSync(path, 'wx', 0o600);
      writeSync(file, `${JSON.stringify(gone)}\n`);
      const place = places.get(gone.where) ?? { count: 0, ids: [] };
      places.set(gone.where, place);
      place.count += 1;
      if (place.ids.length < IDS_SHOWN) place.ids.push(gone.id);
    },
    of: (where) => places.get(where) ?? { count: 0, ids: [] },
    total: () => [...places.values()].reduce((sum, { count }) => sum + count, 0),
    close: () => {
      if (file === undefined) return null;
      fsyncSync(file);
      closeSync(file);
      file = undefined;
      return path;
    },
  };
};
