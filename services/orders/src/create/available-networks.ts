import type { Availability } from '@cpg/contracts';
import { type Followed, followed } from './followed.ts';

/** Whether new orders may show addresses on a network now. */
export type IsAvailable = (network: string) => boolean;

export interface AvailableNetworks extends Pick<Followed<unknown>, 'start'> {
  readonly isAvailable: IsAvailable;
}

/** Follows which networks payments reads. What it said last holds for as long as it said, also while payments is
 *  unavailable: nobody reads chains then. `nowMs` is a monotonic clock. */
export const followAvailability = (
  read: () => Promise<Pick<Availability, 'networks'>>,
  nowMs: () => number = () => performance.now(),
): AvailableNetworks => {
  const ends = followed(
    async (sentAtMs) => {
      const { networks } = await read();
      return new Map(Object.entries(networks).map(([name, forMs]) => [name, sentAtMs + forMs]));
    },
    { nowMs },
  );
  return { isAvailable: (network) => nowMs() < (ends.current()?.get(network) ?? -Infinity), start: ends.start };
};
