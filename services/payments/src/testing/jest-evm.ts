import { scalesOf } from '@cpg/contracts';
import { assetTable, type AssetTable } from '@cpg/assets';
import type { ChainNode } from '@cpg/local-chain';
import { TRANSFER_TOPIC } from '../chains/evm/block.ts';

/** Accounts of the mnemonic "test … junk", which anvil funds and signs for. */
export const PAYER = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';

export const TOKEN = '0x52908400098527886E0F7030069857D2E4169EE7';
export const OTHER_TOKEN = '0xde709f2102306220921060314715629080e2fb77';
const FORWARDER = '0x1111111111111111111111111111111111111111';
const REVERTING_FORWARDER = '0x2222222222222222222222222222222222222222';

const word = (value: string | bigint): string =>
  (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).toLowerCase().padStart(64, '0');

const hexByte = (value: number) => value.toString(16).padStart(2, '0');

/** Code that answers `decimals()`; otherwise it emits Transfer(caller, word 0, word 1) of the call data after the
 *  selector. */
export const tokenCode = (decimals: number): string =>
  `0x60003560e01c63313ce56714604057602435600052600435337f${TRANSFER_TOPIC.slice(2)}60206000a3005b60${hexByte(decimals)}60005260206000f3`;
// Sends (word 1) wei to (word 0), then (word 3) wei to (word 2).
const forward = (at: number) => `600060006000600060${hexByte(at + 32)}3560${hexByte(at)}355af150`;
const FORWARDER_CODE = `0x${forward(0)}${forward(64)}00`;
const REVERTING_CODE = `0x${forward(0)}${forward(64)}60006000fd`;

export const localAssets = (decimals = 6, chainId = 'eip155:31337', natives = ['ETH' as const]): AssetTable =>
  assetTable(
    {
      networks: [{ network: 'ethereum-local', chain_id: chainId }],
      assets: [
        ...natives.map((currency) => ({
          currency,
          network: 'ethereum-local',
          native: true as const,
          decimals: 18,
          smallest_payable: '1',
          confirmations: 1,
        })),
        ...(['USDC', 'USDT'] as const).map((currency, index) => ({
          currency,
          network: 'ethereum-local',
          contract: [TOKEN, OTHER_TOKEN][index]!,
          decimals,
          smallest_payable: '1',
          confirmations: 1,
        })),
      ],
    },
    scalesOf({ CAZ_DECIMALS: 18 }),
  );

/** Pays on an EVM node whose contracts `deploy` has placed. */
export const evmPayer = ({ call }: ChainNode) => {
  const send = (to: string, value: bigint, data = '0x') =>
    call<string>('eth_sendTransaction', {
      from: PAYER,
      to,
      value: `0x${value.toString(16)}`,
      data,
      gas: '0x493e0',
    });
  const forwardData = (payments: readonly { to: string; units: bigint }[]) =>
    `0x${payments.map(({ to, units }) => word(to) + word(units)).join('')}`;
  return {
    deploy: async () => {
      for (const token of [TOKEN, OTHER_TOKEN]) await call('anvil_setCode', token, tokenCode(6));
      await call('anvil_setCode', FORWARDER, FORWARDER_CODE);
      await call('anvil_setCode', REVERTING_FORWARDER, REVERTING_CODE);
    },
    native: (to: string, units: bigint) => send(to, units),
    token: (to: string, units: bigint, token = TOKEN) => send(token, 0n, `0xa9059cbb${word(to)}${word(units)}`),
    /** Pays two addresses by calls inside one transaction. */
    internal: (first: { to: string; units: bigint }, second: { to: string; units: bigint }) =>
      send(FORWARDER, first.units + second.units, forwardData([first, second])),
    reverted: (first: { to: string; units: bigint }, second: { to: string; units: bigint }) =>
      send(REVERTING_FORWARDER, first.units + second.units, forwardData([first, second])),
  };
};
