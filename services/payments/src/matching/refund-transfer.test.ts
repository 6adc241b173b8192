import { readAssets } from '@cpg/assets';
import { checkedRefundTransfer } from './refund-transfer.ts';

const TABLE = readAssets({ ENVIRONMENT: 'production', NETWORKS: ['bitcoin', 'ethereum', 'base'], CAZ_DECIMALS: 18 });
const TX_HASH = `0x${'AB'.repeat(32)}`;
const ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const networksOf = (currency: string) => [
  ...new Set(TABLE.assets.filter((asset) => asset.currency === currency).map(({ network }) => network)),
];
const [network, other] = networksOf('USDC');
const onChain = { currency: 'USDC', providerId: `${network!.chainId}/0xf00d:0` } as const;
const atProvider = { currency: 'USDC', providerId: 'acme:7' } as const;

const faultOf = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    return (error as { details: object[] }).details[0];
  }
};

test('nothing is known without the fields', () => expect(checkedRefundTransfer({}, onChain, TABLE)).toEqual({}));

test('a transaction and an address are of the network of the payment, in canonical form', () =>
  expect(checkedRefundTransfer({ tx_hash: TX_HASH, destination: ADDRESS.toLowerCase() }, onChain, TABLE)).toEqual({
    network: network!.name,
    txHash: TX_HASH.toLowerCase(),
    destination: ADDRESS,
  }));

test('another network of the currency can be given', () =>
  expect(checkedRefundTransfer({ network: other!.name }, onChain, TABLE)).toEqual({ network: other!.name }));

test('what a provider paid back is recorded as given', () => {
  const given = { tx_hash: 're_42', destination: 'IBAN …3000' };
  expect(checkedRefundTransfer(given, atProvider, TABLE)).toEqual({ txHash: 're_42', destination: 'IBAN …3000' });
  const { name } = network!;
  expect(checkedRefundTransfer({ network: name, destination: ADDRESS }, atProvider, TABLE)).toEqual({
    network: name,
    destination: ADDRESS,
  });
});

test.each([
  [{ network: 'bitcoin' }, 'network', /^must be a network of USDC: /],
  [{ network: 'nowhere' }, 'network', /^must be a network of USDC: /],
  [{ destination: ADDRESS.replace('aAe', 'aae') }, 'destination', /^has a wrong checksum/],
  [{ tx_hash: 're_42' }, 'tx_hash', /^is not a transaction on/],
])('%j is refused for a payment on a chain, and the field named', (given, path, message) =>
  expect(faultOf(() => checkedRefundTransfer(given, onChain, TABLE))).toEqual({
    path,
    message: expect.stringMatching(message),
  }),
);
