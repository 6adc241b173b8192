import type { DepositNetwork } from './networks.ts';

// Accounts of the mnemonics "abandon … about" (m/84'/0'/0', m/84'/1'/0', m/44'/0'/0', m/44'/60'/0') and "test … junk"
// (m/84'/0'/0', m/44'/0'/0', m/44'/60'/0'): anybody can spend from them.
const PUBLISHED_KEYS = ['fd13aac9', 'e99b8628', '6cc9f252', '60b68b69', 'e2c96594', 'c1f1e51e', '3bf95407'];

/** Throws RangeError if the account belongs to a published mnemonic. */
export const refusePublishedKey = ({ name, account }: Pick<DepositNetwork, 'name' | 'account'>): void => {
  if (PUBLISHED_KEYS.includes(account.fingerprint))
    throw new RangeError(
      `the account key of ${name} belongs to a published test mnemonic, so anybody can spend its deposits`,
    );
};
