/** The facts about a chain in its CAIP-2 chain id. */
export type Chain =
  | { readonly kind: 'bitcoin'; readonly chain: BitcoinChain; readonly nativeCoin: 'BTC' }
  | {
      readonly kind: 'evm';
      /** Symbol of the coin that pays the gas; absent for a chain that this version does not know. */
      readonly nativeCoin?: string;
    };

/** Decides the form of addresses and of account keys. Testnets and signet share theirs. */
export type BitcoinChain = 'main' | 'test' | 'regtest';

// The first 32 hex digits of the hash of the genesis block. Source: CAIP-4, chainparams.cpp of Bitcoin Core.
const BITCOIN_CHAINS: Record<string, BitcoinChain> = {
  '000000000019d6689c085ae165831e93': 'main',
  '000000000933ea01ad0ee984209779ba': 'test', // testnet3
  '00000000da84f2bafbbc53dee25a72ae': 'test', // testnet4
  '00000008819873e925422c1ff0f99f7c': 'test', // signet
  '0f9188f13cb7b2c71f2a335e3a4fc328': 'regtest',
};

// Source: ethereum-lists/chains. Not every EVM chain has ETH.
const EVM_NATIVE_COINS: Record<string, readonly string[]> = {
  ETH: [
    ...['1', '11155111', '17000', '560048'], // Ethereum, Sepolia, Holesky, Hoodi
    ...['10', '11155420', '8453', '84532', '42161', '421614'], // Optimism, Base, Arbitrum One, and their testnets
    ...['324', '59144', '534352', '81457', '130', '480'], // zkSync Era, Linea, Scroll, Blast, Unichain, World Chain
    ...['1337', '31337'], // local nodes: geth --dev, anvil, hardhat
  ],
  BNB: ['56', '97', '204'],
  POL: ['137', '80002'],
  AVAX: ['43114', '43113'],
  XDAI: ['100', '10200'],
  CELO: ['42220', '44787'],
  S: ['146'],
  FTM: ['250'],
  MNT: ['5000'],
  ETC: ['61'],
  CRO: ['25'],
  GLMR: ['1284'],
  KAIA: ['8217'],
  BTC: ['30'], // Rootstock
  HYPE: ['999'],
};

const NATIVE_COIN_OF = new Map(
  Object.entries(EVM_NATIVE_COINS).flatMap(([coin, chains]) => chains.map((id) => [id, coin] as const)),
);

/** Null for a chain that cannot take deposits: not an EVM chain, and not a Bitcoin chain by its genesis block. */
export const chainOf = (chainId: string): Chain | null => {
  const evm = /^eip155:([1-9]\d{0,15})$/.exec(chainId)?.[1];
  if (evm) {
    const nativeCoin = NATIVE_COIN_OF.get(evm);
    return { kind: 'evm', ...(nativeCoin && { nativeCoin }) };
  }
  const chain = BITCOIN_CHAINS[/^bip122:([0-9a-f]{32})$/.exec(chainId)?.[1] ?? ''];
  return chain ? { kind: 'bitcoin', chain, nativeCoin: 'BTC' } : null;
};

// By CAIP-2 id, without local chains. Each shows a transaction at /tx/<hash> (EIP-3091).
const EXPLORERS: Readonly<Record<string, string>> = {
  'bip122:000000000019d6689c085ae165831e93': 'https://mempool.space',
  'bip122:000000000933ea01ad0ee984209779ba': 'https://mempool.space/testnet',
  'bip122:00000000da84f2bafbbc53dee25a72ae': 'https://mempool.space/testnet4',
  'bip122:00000008819873e925422c1ff0f99f7c': 'https://mempool.space/signet',
  'eip155:1': 'https://etherscan.io',
  'eip155:11155111': 'https://sepolia.etherscan.io',
  'eip155:17000': 'https://holesky.etherscan.io',
  'eip155:560048': 'https://hoodi.etherscan.io',
  'eip155:10': 'https://optimistic.etherscan.io',
  'eip155:11155420': 'https://sepolia-optimism.etherscan.io',
  'eip155:8453': 'https://basescan.org',
  'eip155:84532': 'https://sepolia.basescan.org',
  'eip155:42161': 'https://arbiscan.io',
  'eip155:421614': 'https://sepolia.arbiscan.io',
  'eip155:59144': 'https://lineascan.build',
  'eip155:534352': 'https://scrollscan.com',
  'eip155:81457': 'https://blastscan.io',
  'eip155:130': 'https://uniscan.xyz',
  'eip155:480': 'https://worldscan.org',
  'eip155:56': 'https://bscscan.com',
  'eip155:97': 'https://testnet.bscscan.com',
  'eip155:204': 'https://opbnb.bscscan.com',
  'eip155:137': 'https://polygonscan.com',
  'eip155:80002': 'https://amoy.polygonscan.com',
  'eip155:43114': 'https://snowtrace.io',
  'eip155:43113': 'https://testnet.snowtrace.io',
  'eip155:100': 'https://gnosisscan.io',
  'eip155:42220': 'https://celoscan.io',
  'eip155:146': 'https://sonicscan.org',
  'eip155:5000': 'https://mantlescan.xyz',
  'eip155:61': 'https://etc.blockscout.com',
  'eip155:25': 'https://explorer.cronos.org',
  'eip155:1284': 'https://moonscan.io',
  'eip155:30': 'https://explorer.rootstock.io',
};

/** The block explorer of a known public chain. */
export const explorerOf = (chainId: string): string | undefined => EXPLORERS[chainId];

/** The page of a transaction on a network; undefined where no explorer shows the network. */
export const transactionUrl = (
  { explorer }: { readonly explorer?: string | undefined },
  txHash: string,
): string | undefined => explorer && `${explorer}/tx/${encodeURIComponent(txHash)}`;
