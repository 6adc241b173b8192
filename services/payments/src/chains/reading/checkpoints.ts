import type { ChainKind } from '../chain-kind.ts';
import type { ChainStore } from './chain-store.ts';
import type { ChainStream } from './chain-stream.ts';
import type { Reading } from './reading.ts';

/** Records the oldest known block on the stream of the chain, once in a window, and only when all blocks up to it were
 *  read again and no transfer in them can change any more. */
export const checkpointRecorder = ({
  kind,
  store,
  stream,
}: {
  readonly kind: ChainKind;
  readonly store: ChainStore;
  readonly stream: ChainStream;
}) => {
  let last: number | null = null;
  return async ({ window: [oldest], rechecked }: Reading): Promise<void> => {
    last ??= (await stream.last())?.height ?? 0;
    if (!oldest || oldest.height < last + kind.windowBlocks || oldest.height > rechecked()) return;
    const open = await store.open();
    if (open.some(({ block }) => block !== null && block.height <= oldest.height)) return;
    // A rescan of another process may have begun at a lower block: the stream knows.
    last = (await stream.last())?.height ?? 0;
    if (oldest.height < last + kind.windowBlocks) return;
    await stream.readUpTo(oldest);
    last = oldest.height;
  };
};
