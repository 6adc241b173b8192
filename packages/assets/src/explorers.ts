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
