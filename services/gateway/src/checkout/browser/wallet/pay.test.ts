import type { WalletTransfer } from '../../state/ways.ts';
import { type Attempt, payWith, type Step, WalletProblem, type WalletProvider } from './pay.ts';

const ACCOUNT = '0x00000000000000000000000000000000000000aa';
const HASH = `0x${'ab'.repeat(32)}`;
const COIN: WalletTransfer = {
  chainId: '0x1',
  to: '0x00000000000000000000000000000000000000bb',
  value: '0x64',
  data: '0x',
};
const TOKEN: WalletTransfer = {
  ...COIN,
  value: '0x0',
  data: `0xa9059cbb${'bb'.padStart(64, '0')}${'64'.padStart(64, '0')}`,
};

type Answers = Record<string, (params: unknown[]) => unknown>;

/** A wallet on a chain with 100 units, and the methods that it was asked for. */
const walletOn = (chainId: string | number, answers: Answers = {}) => {
  const asked: string[] = [];
  const sent: unknown[] = [];
  let current = chainId;
  const all: Answers = {
    eth_requestAccounts: () => [ACCOUNT],
    eth_accounts: () => [ACCOUNT],
    eth_chainId: () => current,
    wallet_switchEthereumChain: ([chain]) => void (current = (chain as { chainId: string }).chainId),
    eth_getBalance: () => '0x64',
    eth_call: () => `0x${'64'.padStart(64, '0')}`,
    eth_sendTransaction: ([transaction]) => {
      sent.push(transaction);
      return HASH;
    },
    ...answers,
  };
  const provider: WalletProvider = {
    request: async ({ method, params = [] }) => {
      asked.push(method);
      return all[method]!(params);
    },
  };
  return { provider, asked, sent };
};

const pay = async ({ provider }: { provider: WalletProvider }, transfer = COIN, more: Partial<Attempt> = {}) => {
  const steps: Step[] = [];
  const attempt: Attempt = {
    onStep: (step) => void steps.push(step),
    check: async () => {},
    onSend: () => {},
    ...more,
  };
  const outcome = await payWith(provider, transfer, attempt).catch(({ problem }: { problem: string }) => problem);
  return { outcome, steps };
};
const failsWith = (error: object) => () => {
  throw Object.assign(new Error('a fault of the wallet'), error);
};

test.each([
  ['the coin of the chain', COIN],
  ['a token', TOKEN],
])('sends exactly the transfer of %s', async (_, transfer) => {
  const wallet = walletOn('0x1');
  expect(await pay(wallet, transfer)).toEqual({ outcome: HASH, steps: ['connect', 'check', 'confirm'] });
  expect(wallet.sent).toEqual([{ from: ACCOUNT, ...transfer }]);
});

test('asks for the network of the transfer first, and reads the account after it', async () => {
  const wallet = walletOn('0x89');
  expect(await pay(wallet)).toEqual({ outcome: HASH, steps: ['connect', 'network', 'check', 'confirm'] });
  expect(wallet.asked.slice(0, 5)).toEqual([
    'eth_requestAccounts',
    'eth_chainId',
    'wallet_switchEthereumChain',
    'eth_chainId',
    'eth_accounts',
  ]);
});

test.each([1, '0x01'])('knows the network when a wallet writes it as %p', async (chainId) => {
  const wallet = walletOn(chainId);
  expect((await pay(wallet)).outcome).toBe(HASH);
  expect(wallet.asked).not.toContain('wallet_switchEthereumChain');
});

test.each<[string, string, Answers]>([
  ['refused', 'the payer refuses to connect', { eth_requestAccounts: failsWith({ code: 4001 }) }],
  ['busy', 'a request is open', { eth_requestAccounts: failsWith({ code: -32_002 }) }],
  ['failed', 'the wallet fails to connect', { eth_requestAccounts: failsWith({}) }],
  ['no_account', 'the wallet shows no account', { eth_accounts: () => [] }],
  ['unknown_network', 'the network is unknown', { wallet_switchEthereumChain: failsWith({ code: 4902 }) }],
  [
    'unknown_network',
    'the network is unknown to a mobile wallet',
    { wallet_switchEthereumChain: failsWith({ code: -32_603, data: { originalError: { code: 4902 } } }) },
  ],
  ['refused', 'the payer refuses the network', { wallet_switchEthereumChain: failsWith({ code: 4001 }) }],
  ['wrong_network', 'the wallet cannot switch', { wallet_switchEthereumChain: failsWith({ code: 4200 }) }],
  ['wrong_network', 'the wallet only says that it switched', { wallet_switchEthereumChain: () => null }],
  ['not_enough', 'the account has less', { eth_getBalance: () => '0x63' }],
])('says %s and sends nothing when %s', async (problem, _, answers) => {
  const wallet = walletOn('0x89', answers);
  expect((await pay(wallet)).outcome).toBe(problem);
  expect(wallet.sent).toEqual([]);
});

test('asks for nothing once the page is checked but the network, and stops where the page stops it', async () => {
  const stop = () => {
    throw new WalletProblem('changed');
  };
  const checked = walletOn('0x1');
  expect((await pay(checked, COIN, { check: async () => stop() })).outcome).toBe('changed');
  const stopped = walletOn('0x1');
  expect((await pay(stopped, COIN, { onSend: stop })).outcome).toBe('changed');
  expect(stopped.asked.slice(checked.asked.length)).toEqual(['eth_chainId']);
  expect([...checked.sent, ...stopped.sent]).toEqual([]);
});

test('sends nothing when the wallet left the network while the page was checked', async () => {
  let chainId = '0x1';
  const wallet = walletOn('0x1', { eth_chainId: () => chainId });
  expect((await pay(wallet, COIN, { check: async () => void (chainId = '0x89') })).outcome).toBe('wrong_network');
  expect(wallet.sent).toEqual([]);
});

test('says not_enough when the account has too few tokens', async () => {
  const wallet = walletOn('0x1', { eth_call: () => '0x63' });
  expect((await pay(wallet, TOKEN)).outcome).toBe('not_enough');
});

test('leaves it to a wallet that cannot tell its balance', async () => {
  expect((await pay(walletOn('0x1', { eth_getBalance: failsWith({ code: 4200 }) }))).outcome).toBe(HASH);
});

test.each<[string, string, Answers]>([
  ['refused', 'the payer refuses', { eth_sendTransaction: failsWith({ code: 4001 }) }],
  ['unsure', 'the wallet fails', { eth_sendTransaction: failsWith({ code: -32_603 }) }],
  ['unsure', 'the answer is no hash', { eth_sendTransaction: () => null }],
])('says %s when %s to send', async (problem, _, answers) => {
  expect((await pay(walletOn('0x1', answers))).outcome).toBe(problem);
});
