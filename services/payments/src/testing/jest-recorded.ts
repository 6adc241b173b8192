import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fromMinor, type Payment } from '@cpg/contracts';

export interface RecordedStream {
  readonly stream: string;
  /** The payment as the API showed it after the last event. */
  readonly resource: Payment;
  readonly events: {
    readonly id: string;
    readonly revision: number;
    readonly type: string;
    readonly data: Record<string, unknown> & { readonly at: string };
    readonly metadata: { readonly hash: string; readonly previousHash: string };
  }[];
}

const FOLDER = join(import.meta.dirname, 'recorded');

/** Streams that earlier versions recorded, by the commit of the version. The files never change; a version that records
 *  another shape adds a file. */
export const recordedVersions = (): [commit: string, streams: RecordedStream[]][] =>
  readdirSync(FOLDER).map((file) => [
    file.replace('.json', ''),
    (JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as RecordedStream[]).map((recorded) => ({
      ...recorded,
      resource: withEveryAmount(recorded.resource),
    })),
  ]);

/** Earlier versions left out amounts that are zero. */
const withEveryAmount = (payment: Payment): Payment => {
  const zero = fromMinor(0n, payment.currency);
  return { applied_amount: zero, unapplied_amount: zero, refunded_amount: zero, ...payment };
};
