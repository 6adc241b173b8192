import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Call } from './fetch-only.ts';

/** An answer of a node to a call. */
export interface Recorded {
  readonly call: Call;
  readonly result: unknown;
}

export interface RecordedNode {
  readonly url: string;
  readonly stop: () => void;
}

/** Starts a node that replays a record, in its own process so that its CPU time is not measured. */
export const startRecordedNode = async (answers: readonly Recorded[]): Promise<RecordedNode> => {
  const node = fork(join(import.meta.dirname, 'recorded-node-process.js'));
  node.send(answers);
  const [url] = (await once(node, 'message')) as [string];
  return { url, stop: () => void node.kill() };
};
