import { type AssignedInstruction, decimalsOf } from '@cpg/contracts';
import type { Asset } from './asset-table.ts';

type CryptoDeposit = Extract<AssignedInstruction, { rail: 'crypto_deposit' }>;

/** Where to pay an order in this asset. */
export const depositInstruction = (
  { currency, network, id, decimals, requiredConfirmations }: Asset,
  { address, derivation }: Pick<CryptoDeposit, 'address' | 'derivation'>,
): CryptoDeposit => ({
  rail: 'crypto_deposit',
  currency,
  network: network.name,
  chainId: network.chainId,
  asset: id,
  address,
  decimals,
  currencyDecimals: decimalsOf(currency),
  requiredConfirmations,
  derivation,
});
