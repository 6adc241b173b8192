import { z } from 'zod';
import { Timestamp } from './ids.ts';

/** The stream that keeps the leaves of the transparency log, and its signed checkpoints. Its own events are no leaves. */
export const TRANSPARENCY_LOG_STREAM = 'transparency-log';

/** The leaves that were added to the log, and the checkpoint of the log with them. */
export const CheckpointSigned = z.object({
  type: z.literal('CheckpointSigned'),
  data: z.object({
    /** How many leaves the log has. */
    size: z.int().positive(),
    /** The entries of the leaves that were added, in the order of the event store: `<sequence>@<stream> <hash>`. */
    entries: z.array(z.string()).min(1),
    /** The position of the last of them in the event store. */
    upTo: z.object({ commit: z.string(), prepare: z.string() }),
    /** A signed note: C2SP tlog-checkpoint. */
    checkpoint: z.string(),
    at: Timestamp,
  }),
});
export type CheckpointSigned = z.infer<typeof CheckpointSigned>;
