import { isChecksummed } from '@cpg/assets';
import { PaymentCurrency } from '@cpg/contracts';
import { z } from 'zod';
import { type AccountKey, type ExtendedKeyForm, readAccountKey } from './account-key.ts';
import { bitcoinAddress, evmAddress } from './addresses.ts';

const Contract = z.string().refine(isChecksummed, { error: 'must be an address with its EIP-55 checksum' });
const Confirmations = z.int().min(1);
const Common = { network: z.string().min(1), xpub: z.string().optional() };

/** The networks file: chains that accept deposits, and their currencies. `note` is a comment for readers of the
 *  file. */
export const NetworksFile = z.strictObject({
  note: z.string().optional(),
  networks: z.array(
    z.discriminatedUnion('kind', [
      z.strictObject({
        kind: z.literal('bitcoin'),
        ...Common,
        chain_id: z.string().regex(/^bip122:[0-9a-f]{32}$/, { error: 'must be the CAIP-2 id of a Bitcoin chain' }),
        chain: z.enum(['main', 'test']),
        confirmations: Confirmations,
      }),
      z.strictObject({
        kind: z.literal('evm'),
        ...Common,
        chain_id: z.string().regex(/^eip155:\d+$/, { error: 'must be the CAIP-2 id of an EVM chain' }),
        confirmations: Confirmations,
        tokens: z.partialRecord(PaymentCurrency.exclude(['BTC', 'ETH']), z.strictObject({ contract: Contract })),
      }),
    ]),
  ),
});
export type NetworksFile = z.infer<typeof NetworksFile>;

export interface Network {
  readonly name: string;
  /** CAIP-2. */
  readonly chainId: string;
  /** CAIP-19 by currency. */
  readonly assets: Partial<Record<PaymentCurrency, string>>;
  readonly requiredConfirmations: number;
  readonly account: AccountKey;
  /** The address at path `0/index` of the account. */
  readonly addressAt: (index: number) => string;
}

// SLIP-44 coin types.
const COIN = { main: 0, test: 1, ether: 60 };

const FORMS: Record<'main' | 'test' | 'evm', readonly ExtendedKeyForm[]> = {
  main: ['xpub', 'zpub'],
  test: ['tpub', 'vpub'],
  evm: ['xpub'],
};

/** Reads the networks of a file. `xpubs` contains the operator's account keys by kind of network. They override the
 *  keys in the file. Throws like `networkOf`. */
export const networksOf = (
  { networks }: NetworksFile,
  xpubs: { bitcoin?: string | undefined; evm?: string | undefined },
): Network[] => networks.map((entry) => networkOf(entry, xpubs[entry.kind]));

/** Reads one network of a file. `xpub` is the operator's account key and overrides the key in the file. Throws
 *  RangeError with the name of the network if the key is missing or invalid. */
export const networkOf = (entry: NetworksFile['networks'][number], xpub: string | undefined): Network => {
  const { network: name, chain_id: chainId, confirmations: requiredConfirmations } = entry;
  const account = accountOf(name, xpub ?? entry.xpub, FORMS[entry.kind === 'evm' ? 'evm' : entry.chain]);
  const common = { name, chainId, requiredConfirmations, account };
  if (entry.kind === 'bitcoin') {
    const { chain } = entry;
    return {
      ...common,
      assets: { BTC: `${chainId}/slip44:${COIN[chain]}` },
      addressAt: (index) => bitcoinAddress(account.receiving(index), chain),
    };
  }
  const tokens = Object.entries(entry.tokens).map(
    ([currency, { contract }]) => [currency, `${chainId}/erc20:${contract}`] as const,
  );
  return {
    ...common,
    assets: { ETH: `${chainId}/slip44:${COIN.ether}`, ...Object.fromEntries<string>(tokens) },
    addressAt: (index) => evmAddress(account.receiving(index)),
  };
};

const accountOf = (network: string, xpub: string | undefined, forms: readonly ExtendedKeyForm[]): AccountKey => {
  if (xpub === undefined) throw new RangeError(`the account key of ${network} is missing`);
  const account = readKey(network, xpub);
  if (!forms.includes(account.form)) {
    throw new RangeError(`the account key of ${network} is a ${account.form}: it must be ${forms.join(' or ')}`);
  }
  return account;
};

const readKey = (network: string, xpub: string): AccountKey => {
  try {
    return readAccountKey(xpub);
  } catch (error) {
    throw new RangeError(`the account key of ${network} ${(error as Error).message}`, { cause: error });
  }
};
