import type { Block, Transfer } from './chain-source.ts';
import type { SeenTransfer } from './seen-transfer.ts';

// Traces show one transfer per call, balances one per address and block.
// A block can be read again in the other way, and its money must not count twice.
const CALL_ID = /:native\d+$/;

/** The id of what a balance grew by in one block, beyond the transfers that were found. */
export const surplusId = (address: string, height: number, units: bigint): string =>
  `${address}:surplus-${height}-${units}`;

/** Whether a contract paid it. */
export const isInternal = ({ id, txHash }: Transfer): boolean => txHash === null || CALL_ID.test(id);

/** Ids under which the store may know the transfers of a block. */
export const knownIds = ({ ref, transfers }: Block): string[] => [
  ...transfers.map(({ id }) => id),
  ...callsByAddress(transfers).map((calls) => surplusIdOf(calls, ref.height)),
];

/** Transfers of a block under the ids by which they were first stored.
 *  `known`: stored under `knownIds`. `unminedKnown`: stored transfers that are in no block. */
export const asSeenFirst = (
  { ref, transfers }: Block,
  known: readonly SeenTransfer[],
  unminedKnown: readonly SeenTransfer[],
): Transfer[] => {
  const ids = new Set(known.map(({ id }) => id));
  const seenAsSurplus = callsByAddress(transfers)
    .filter((calls) => !calls.some(({ id }) => ids.has(id)) && ids.has(surplusIdOf(calls, ref.height)))
    .map((calls) => ({ calls, surplus: surplusOf(calls, ref.height) }));
  const replaced = new Set(seenAsSurplus.flatMap(({ calls }) => calls));
  return [
    ...transfers
      .filter((transfer) => !replaced.has(transfer))
      .flatMap((transfer) =>
        transfer.txHash === null && !ids.has(transfer.id) ? (callsOf(transfer, unminedKnown) ?? transfer) : transfer,
      ),
    ...seenAsSurplus.map(({ surplus }) => surplus),
  ];
};

const callsByAddress = (transfers: readonly Transfer[]): Transfer[][] => {
  const byAddress = new Map<string, Transfer[]>();
  for (const transfer of transfers)
    if (CALL_ID.test(transfer.id))
      byAddress.set(transfer.address, [...(byAddress.get(transfer.address) ?? []), transfer]);
  return [...byAddress.values()];
};

const unitsOf = (transfers: readonly Transfer[]): bigint => transfers.reduce((sum, { units }) => sum + units, 0n);

const surplusIdOf = (calls: readonly Transfer[], height: number): string =>
  surplusId(calls[0]!.address, height, unitsOf(calls));

const surplusOf = (calls: readonly Transfer[], height: number): Transfer => {
  const { address, asset } = calls[0]!;
  return { id: surplusIdOf(calls, height), txHash: null, address, asset, units: unitsOf(calls) };
};

/** The stored calls that a surplus sums up: of one transaction, or all; null if there are none. */
const callsOf = ({ address, units }: Transfer, unminedKnown: readonly SeenTransfer[]): Transfer[] | null => {
  const calls = unminedKnown.filter((transfer) => transfer.address === address && CALL_ID.test(transfer.id));
  const transactions = [...new Set(calls.map(({ txHash }) => txHash))];
  const groups = [...transactions.map((hash) => calls.filter(({ txHash }) => txHash === hash)), calls];
  const found = groups.find((group) => group.length > 0 && unitsOf(group) === units);
  return found?.map(({ id, txHash, asset, units: each }) => ({ id, txHash, address, asset, units: each })) ?? null;
};
