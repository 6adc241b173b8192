import { type Asset, type AssetTable, type BitcoinChain, checksummed, type Network } from '@cpg/assets';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { hex } from '@scure/base';
import { Address, NETWORK, TEST_NETWORK } from '@scure/btc-signer';
import { hash160 } from '@scure/btc-signer/utils.js';
import { LRUCache } from 'lru-cache';
import { pointCompress } from 'tiny-secp256k1';
import { type AccountKey, type ExtendedKeyForm, type PublicKey, readAccountKey } from './account-key.ts';

/** A network with the account that receives its deposits. */
export interface DepositNetwork {
  readonly name: string;
  /** CAIP-2. */
  readonly chainId: string;
  readonly assets: readonly Asset[];
  readonly account: AccountKey;
  /** The address at path `0/index` of the account. */
  readonly addressAt: (index: number) => string;
}

/** Of the accounts of all networks, which may share one. An address is derived ahead, for its lease, and for a page. */
const addresses = new LRUCache<string, string>({ max: 10_000 });

const FORMS: Record<BitcoinChain | 'evm', readonly ExtendedKeyForm[]> = {
  main: ['xpub', 'zpub'],
  test: ['tpub', 'vpub'],
  regtest: ['tpub', 'vpub'],
  evm: ['xpub'],
};

/** The networks of a table. `xpubs` contains the operator's account keys by kind of network. They override the keys in
 *  the file. Throws like `depositNetworkOf`. */
export const depositNetworksOf = (
  table: AssetTable,
  xpubs: { bitcoin?: string | undefined; evm?: string | undefined } = {},
): DepositNetwork[] => table.networks.map((network) => depositNetworkOf(table, network, xpubs[network.kind]));

/** One network of a table. `xpub` is the operator's account key and overrides the key in the file. Throws RangeError
 *  with the name of the network if the key is missing or invalid. */
export const depositNetworkOf = (table: AssetTable, network: Network, xpub: string | undefined): DepositNetwork => {
  const forms = FORMS[network.kind === 'evm' ? 'evm' : network.chain];
  return withAccount(table, network, accountOf(network.name, xpub ?? network.xpub, forms));
};

/** A network of a table with an account, in whatever form its key was given. */
export const withAccount = (table: AssetTable, network: Network, account: AccountKey): DepositNetwork => {
  const { name, chainId } = network;
  const form = network.kind === 'evm' ? network.kind : network.chain;
  const derive = (index: number): string => {
    const key = account.receiving(index);
    return form === 'evm' ? evmAddress(key) : bitcoinAddress(key, form);
  };
  return {
    name,
    chainId,
    assets: table.assets.filter((asset) => asset.network.name === name),
    account,
    addressAt: (index) => {
      const id = `${form} ${account.xpub}/${index}`;
      const address = addresses.get(id) ?? derive(index);
      addresses.set(id, address);
      return address;
    },
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

/** Reads and writes the addresses of each Bitcoin chain. */
export const BITCOIN_ADDRESSES: Record<BitcoinChain, ReturnType<typeof Address>> = {
  main: Address(NETWORK),
  test: Address(TEST_NETWORK),
  regtest: Address({ ...TEST_NETWORK, bech32: 'bcrt' }),
};

/** The native segwit address (P2WPKH, bech32) of a public key. Source: BIP141, BIP173.
 *  `p2wpkh` of the library takes ten times as long: it proves that the key is on the curve. */
export const bitcoinAddress = (publicKey: PublicKey, chain: BitcoinChain): string =>
  BITCOIN_ADDRESSES[chain].encode({ type: 'wpkh', hash: hash160(publicKey) });

/** The account address of a public key, with the mixed-case checksum of EIP-55. */
export const evmAddress = (publicKey: PublicKey): string => {
  const [, ...coordinates] = pointCompress(publicKey, false);
  return checksummed(hex.encode(keccak_256(Uint8Array.from(coordinates)).subarray(-20)));
};
