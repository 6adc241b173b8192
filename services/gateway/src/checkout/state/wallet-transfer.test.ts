import { walletTransfer } from './ways.ts';

const ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const USDC = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';

const transfer = (asset: string, amount_units: string, chain_id = 'eip155:31337') =>
  walletTransfer({ chain_id, asset: `${chain_id}/${asset}`, address: ADDRESS, amount_units });

test('the coin of the chain is sent to the address', () => {
  expect(transfer('slip44:60', '1000000000000000000')).toEqual({
    chainId: '0x7a69',
    to: ADDRESS,
    value: '0xde0b6b3a7640000',
    data: '0x',
  });
});

// The recipient and the amount as 32 bytes each (Solidity ABI).
test.each([
  ['25500000', '1851960'.padStart(64, '0')],
  [String(2n ** 256n - 1n), 'f'.repeat(64)],
])('%s units of a token are sent by its contract', (units, amount) => {
  expect(transfer(`erc20:${USDC}`, units, 'eip155:1')).toEqual({
    chainId: '0x1',
    to: USDC,
    value: '0x0',
    data: `0xa9059cbb0000000000000000000000005aaeb6053f3e94c9b9a09f33669435e7ef1beaed${amount}`,
  });
});

test('Bitcoin has no such wallets', () => {
  expect(transfer('slip44:0', '1000', 'bip122:000000000019d6689c085ae165831e93')).toBeNull();
});
