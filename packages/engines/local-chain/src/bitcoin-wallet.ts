import { hex } from '@scure/base';
import { p2wpkh, TEST_NETWORK, Transaction } from '@scure/btc-signer';
import { pubECDSA } from '@scure/btc-signer/utils.js';
import type { RpcCall } from './node-process.ts';

const REGTEST = { ...TEST_NETWORK, bech32: 'bcrt' };
const FEE = 1_000n;
const REPLACING_FEE = 5_000n;
/** Newly mined coins can be spent only after this number of blocks. */
const MATURE_AFTER = 100;
const REPLACEABLE = 0xff_ff_ff_fd;

interface Output {
  readonly txid: string;
  readonly index: number;
  readonly units: bigint;
}

export interface Payee {
  readonly address: string;
  readonly units: bigint;
}

/** A transaction that a wallet sent, and an output that it spent. */
export interface Sent {
  readonly txid: string;
  readonly raw: string;
  readonly spent: Output;
}

/** A wallet with one key on a regtest chain. Its key is a small number: its coins are worth nothing. */
export interface BitcoinWallet {
  readonly address: string;
  /** Mines blocks until the wallet has `count` more coins to spend, 20 by default. Each payment spends one coin. */
  readonly fund: (call: RpcCall, count?: number) => Promise<void>;
  /** Sends one transaction. With `spending`, the `spent` of an earlier transaction, it replaces that one and pays a
   *  higher fee. */
  readonly pay: (call: RpcCall, payees: readonly Payee[], spending?: Output) => Promise<Sent>;
}

export const bitcoinWallet = (key: number): BitcoinWallet => {
  const privateKey = Buffer.alloc(32);
  privateKey.writeUInt32BE(key, 28);
  const payment = p2wpkh(pubECDSA(privateKey), REGTEST);
  const coins: Output[] = [];

  const signed = (spent: Output, payees: readonly Payee[], fee: bigint): Omit<Sent, 'spent'> => {
    const transaction = new Transaction();
    const witnessUtxo = { script: payment.script, amount: spent.units };
    transaction.addInput({ txid: spent.txid, index: spent.index, sequence: REPLACEABLE, witnessUtxo });
    const change = spent.units - fee - payees.reduce((sum, { units }) => sum + units, 0n);
    if (change < 0n) throw new Error('the payment is larger than one output of the wallet');
    for (const { address, units } of [...payees, { address: payment.address, units: change }])
      transaction.addOutputAddress(address, units, REGTEST);
    transaction.sign(privateKey);
    transaction.finalize();
    return { txid: transaction.id, raw: hex.encode(transaction.extract()) };
  };

  return {
    address: payment.address,
    fund: async (call, count = 20) => {
      const hashes = await mineBitcoin(call, MATURE_AFTER + count, payment.address);
      for (const hash of hashes.slice(0, count)) coins.push(await coinbaseOf(call, hash));
    },
    pay: async (call, payees, spending) => {
      const spent = spending ?? coins.shift();
      if (!spent) throw new Error('the wallet has no coins left');
      const transaction = signed(spent, payees, spending ? REPLACING_FEE : FEE);
      await call('sendrawtransaction', transaction.raw);
      return { ...transaction, spent };
    },
  };
};

/** Mines blocks on regtest and resolves to their hashes. btcd ignores `address`: it pays the mining address that it was
 *  started with. */
export const mineBitcoin = async (call: RpcCall, count: number, address: string): Promise<string[]> => {
  try {
    return await call<string[]>('generatetoaddress', count, address);
  } catch (cause) {
    if (!/not found|unknown|unimplemented/i.test((cause as Error).message)) throw cause;
    return call<string[]>('generate', count);
  }
};

/** Needs a node with `txindex`. btcd is started with it. */
const coinbaseOf = async (call: RpcCall, blockHash: string): Promise<Output> => {
  const { tx } = await call<{ tx: string[] }>('getblock', blockHash, 1);
  const raw = Transaction.fromRaw(hex.decode(await call<string>('getrawtransaction', tx[0]!, 0)), {
    allowUnknownInputs: true,
    allowUnknownOutputs: true,
    disableScriptCheck: true,
  });
  return { txid: tx[0]!, index: 0, units: raw.getOutput(0).amount! };
};
