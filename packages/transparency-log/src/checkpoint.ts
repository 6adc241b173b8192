// The head of a tree, by C2SP tlog-checkpoint: https://c2sp.org/tlog-checkpoint.

export interface Checkpoint {
  /** The name of the log. */
  readonly origin: string;
  /** How many leaves the tree has. */
  readonly size: number;
  readonly root: Buffer;
}

/** The text that is signed. */
export const checkpointText = ({ origin, size, root }: Checkpoint): string =>
  `${origin}\n${size}\n${root.toString('base64')}\n`;
