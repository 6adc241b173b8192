import { eventHash, genesisHash } from '../hash-chain.ts';
