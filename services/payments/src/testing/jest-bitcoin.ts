import { scalesOf } from '@cpg/contracts';
import { assetTable, type AssetTable } from '@cpg/assets';
import { hex } from '@scure/base';
import { p2wpkh, TEST_NETWORK, Transaction } from '@scure/btc-signer';
import { pubECDSA } from '@scure/btc-signer/utils.js';
import { doubleSha256, hashText } from '../chains/bitcoin/block.ts';

const REGTEST = { ...TEST_NETWORK, bech32: 'bcrt' };
export const REGTEST_ID = 'bip122:0f9188f13cb7b2c71f2a335e3a4fc328';

/** A wallet with one key, for tests: the key is the number. */
export const testWallet = (key: number) => {
  const privateKey = Buffer.alloc(32);
  privateKey.writeUInt32BE(key, 28);
  const payment = p2wpkh(pubECDSA(privateKey), REGTEST);
  return {
    address: payment.address,
    /** A signed transaction that spends one output of the wallet. */
    pay: (
      output: { txid: string; index: number; units: bigint },
      payees: readonly { address: string; units: bigint }[],
    ): { id: string; raw: string } => {
      const transaction = new Transaction();
      transaction.addInput({
        txid: output.txid,
        index: output.index,
        sequence: 0xff_ff_ff_fd,
        witnessUtxo: { script: payment.script, amount: output.units },
      });
      for (const { address, units } of payees) transaction.addOutputAddress(address, units, REGTEST);
      transaction.sign(privateKey);
      transaction.finalize();
      return { id: transaction.id, raw: hex.encode(transaction.extract()) };
    },
  };
};

export const bitcoinAssets = (chainId = REGTEST_ID): AssetTable =>
  assetTable(
    {
      networks: [{ network: 'bitcoin-local', chain_id: chainId }],
      assets: [
        {
          currency: 'BTC',
          network: 'bitcoin-local',
          native: true,
          decimals: 8,
          smallest_payable: '0.00001',
          confirmations: 1,
        },
      ],
    },
    scalesOf({ CAZ_DECIMALS: 18 }),
  );

/** A serialized block of raw transactions, without proof of work. */
export const rawBlock = (
  transactions: readonly { id: string; raw: string }[],
  { parent = '00'.repeat(32), time = 1_700_000_000 } = {},
): { hash: string; raw: string } => {
  let level: Buffer[] = transactions.map(({ id }) => Buffer.from(id, 'hex').reverse());
  while (level.length > 1)
    level = level.flatMap((left, at) =>
      at % 2 === 0 ? [doubleSha256(Buffer.concat([left, level[at + 1] ?? left]))] : [],
    );
  const header = Buffer.alloc(80);
  header.writeUInt32LE(4, 0);
  header.set(Buffer.from(parent, 'hex').reverse(), 4);
  header.set(level[0]!, 36);
  header.writeUInt32LE(time, 68);
  const count = Buffer.alloc(3, 0xfd);
  count.writeUInt16LE(transactions.length, 1);
  const raw = Buffer.concat([header, count]).toString('hex') + transactions.map((each) => each.raw).join('');
  return { hash: hashText(doubleSha256(header)), raw };
};
