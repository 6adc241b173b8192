/** Facts about a chain for payers and operators. */
export interface ChainFacts {
  /** The name that wallets show. */
  readonly title: string;
  readonly isTestnet: boolean;
  /** Average; null if unknown. */
  readonly secondsPerBlock: number | null;
}

type Row = readonly [chainId: string, title: string, secondsPerBlock: number | null];

// Source of the times: the documentation of each chain.
const MAIN: readonly Row[] = [
  ['bip122:000000000019d6689c085ae165831e93', 'Bitcoin', 600],
  ['eip155:1', 'Ethereum', 12],
  ['eip155:10', 'Optimism', 2],
  ['eip155:25', 'Cronos', 6],
  ['eip155:30', 'Rootstock', 25],
  ['eip155:56', 'BNB Smart Chain', 0.45],
  ['eip155:61', 'Ethereum Classic', 13],
  ['eip155:100', 'Gnosis Chain', 5],
  ['eip155:130', 'Unichain', 1],
  ['eip155:137', 'Polygon', 2],
  ['eip155:146', 'Sonic', 1],
  ['eip155:204', 'opBNB', 1],
  ['eip155:250', 'Fantom', 1],
  ['eip155:324', 'zkSync Era', 1],
  ['eip155:480', 'World Chain', 2],
  ['eip155:999', 'HyperEVM', 1],
  ['eip155:1284', 'Moonbeam', 6],
  ['eip155:5000', 'Mantle', 2],
  ['eip155:8217', 'Kaia', 1],
  ['eip155:8453', 'Base', 2],
  ['eip155:42161', 'Arbitrum One', 0.25],
  ['eip155:42220', 'Celo', 1],
  ['eip155:43114', 'Avalanche C-Chain', 2],
  ['eip155:59144', 'Linea', 2],
  ['eip155:81457', 'Blast', 2],
  ['eip155:534352', 'Scroll', 3],
];
const TEST: readonly Row[] = [
  ['bip122:000000000933ea01ad0ee984209779ba', 'Bitcoin Testnet', 600],
  ['bip122:00000000da84f2bafbbc53dee25a72ae', 'Bitcoin Testnet4', 600],
  ['bip122:00000008819873e925422c1ff0f99f7c', 'Bitcoin Signet', 600],
  ['bip122:0f9188f13cb7b2c71f2a335e3a4fc328', 'Bitcoin Regtest', null],
  ['eip155:31', 'Rootstock Testnet', 25],
  ['eip155:63', 'Ethereum Classic Mordor', 13],
  ['eip155:97', 'BNB Smart Chain Testnet', 0.45],
  ['eip155:300', 'zkSync Era Sepolia', 1],
  ['eip155:338', 'Cronos Testnet', 6],
  ['eip155:998', 'HyperEVM Testnet', 1],
  ['eip155:1001', 'Kaia Kairos', 1],
  ['eip155:1287', 'Moonbase Alpha', 6],
  ['eip155:1301', 'Unichain Sepolia', 1],
  ['eip155:1337', 'Ethereum Devnet', null],
  ['eip155:4002', 'Fantom Testnet', 1],
  ['eip155:4801', 'World Chain Sepolia', 2],
  ['eip155:5003', 'Mantle Sepolia', 2],
  ['eip155:5611', 'opBNB Testnet', 1],
  ['eip155:10200', 'Gnosis Chiado', 5],
  ['eip155:17000', 'Ethereum Holesky', 12],
  ['eip155:31337', 'Ethereum Devnet', null],
  ['eip155:43113', 'Avalanche Fuji', 2],
  ['eip155:44787', 'Celo Alfajores', 1],
  ['eip155:59141', 'Linea Sepolia', 2],
  ['eip155:80002', 'Polygon Amoy', 2],
  ['eip155:84532', 'Base Sepolia', 2],
  ['eip155:421614', 'Arbitrum Sepolia', 0.25],
  ['eip155:534351', 'Scroll Sepolia', 3],
  ['eip155:560048', 'Ethereum Hoodi', 12],
  ['eip155:11155111', 'Ethereum Sepolia', 12],
  ['eip155:11155420', 'Optimism Sepolia', 2],
  ['eip155:168587773', 'Blast Sepolia', 2],
];

const factsOf =
  (isTestnet: boolean) =>
  ([chainId, title, secondsPerBlock]: Row): [string, ChainFacts] => [chainId, { title, isTestnet, secondsPerBlock }];

const FACTS = new Map([...MAIN.map(factsOf(false)), ...TEST.map(factsOf(true))]);

/** Whether the coins of a chain are worth something; null if that is unknown. */
export const isMainnet = (chainId: string): boolean | null => {
  const facts = FACTS.get(chainId);
  return facts ? !facts.isTestnet : null;
};

/** Facts about a chain by its CAIP-2 id. An unknown chain has the name of its network as title. */
export const chainFacts = (chainId: string, network: string): ChainFacts =>
  FACTS.get(chainId) ?? { title: network, isTestnet: false, secondsPerBlock: null };
