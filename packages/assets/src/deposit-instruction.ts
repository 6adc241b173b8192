import type { AssignedDeposit, AssignedInstruction, LeasedAddress } from '@cpg/contracts';
import type { Asset } from './asset-table.ts';

/** Where to deposit this asset. */
export const assignedDeposit = (
  {
    currencyDecimals,
    network,
    id,
    label,
    decimals,
    requiredConfirmations,
    smallestPayableMinor,
    payableStepMinor,
  }: Asset,
  { address, derivation }: LeasedAddress,
): AssignedDeposit => ({
  network: network.name,
  chainId: network.chainId,
  asset: id,
  ...(label && { assetLabel: label }),
  address,
  decimals,
  currencyDecimals,
  requiredConfirmations,
  ...(smallestPayableMinor > 1n && { smallestPayableMinor: String(smallestPayableMinor) }),
  ...(payableStepMinor > 1n && { payableStepMinor: String(payableStepMinor) }),
  derivation,
});

/** Where to pay an order in this asset. */
export const depositInstruction = (
  asset: Asset,
  address: LeasedAddress,
): Extract<AssignedInstruction, { rail: 'crypto_deposit' }> => ({
  rail: 'crypto_deposit',
  currency: asset.currency,
  ...assignedDeposit(asset, address),
});
