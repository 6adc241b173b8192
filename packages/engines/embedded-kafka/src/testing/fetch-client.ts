import type { RequestReader } from '../protocol/request-reader.ts';
import type { RawClient } from './raw-client.ts';

export interface FetchOptions {
  readonly maxWaitMs?: number;
  readonly minBytes?: number;
  readonly maxBytes?: number;
  readonly readCommitted?: boolean;
}

const FETCH = 1;

/** Fetches partition 0 of the topic from `offset` on, by Fetch 4. */
export const fetchFrom = async (client: RawClient, topic: string, offset: number, options: FetchOptions = {}) => {
  const { maxWaitMs = 0, minBytes = 1, maxBytes = 1_000_000, readCommitted = false } = options;
  const response = await client.request(FETCH, 4, (body) => {
    body
      .int32(-1)
      .int32(maxWaitMs)
      .int32(minBytes)
      .int32(10_000_000)
      .int8(readCommitted ? 1 : 0);
    body.array([topic], (name) =>
      body.string(name).array([0], (index) => body.int32(index).int64(offset).int32(maxBytes)),
    );
  });
  response.int32();
  const [partitions] = response.array(() => {
    response.string();
    return response.array(() => partition(response));
  });
  return partitions![0]!;
};

const partition = (response: RequestReader) => {
  response.int32();
  const error = response.int16();
  const [highWatermark, lastStableOffset] = [response.int64(), response.int64()];
  const abortedTransactions =
    response.nullableArray(() => ({ producerId: response.int64(), firstOffset: response.int64() })) ?? [];
  const records = response.nullableBytes() ?? Buffer.alloc(0);
  return { error, highWatermark, lastStableOffset, abortedTransactions, records, offsets: baseOffsets(records) };
};

/** The base offset of each batch. */
const baseOffsets = (records: Buffer): number[] => {
  const offsets: number[] = [];
  for (let at = 0; at + 12 <= records.length; at += 12 + records.readInt32BE(at + 8)) {
    offsets.push(Number(records.readBigInt64BE(at)));
  }
  return offsets;
};
