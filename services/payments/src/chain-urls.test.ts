import { ChainUrls } from './config.ts';
import { watchedNetworks } from './chains/network-availability.ts';

test('reads the nodes of each network', () => {
  const urls = {
    bitcoin: ['http://user:pass@127.0.0.1:8332'],
    ethereum: ['https://a.example/key', 'https://b.example'],
  };
  expect(ChainUrls.parse(JSON.stringify(urls))).toEqual(urls);
  expect(ChainUrls.parse(undefined)).toEqual({});
  expect(ChainUrls.parse('')).toEqual({});
});

test.each([
  ['https://secret.example', 'must be JSON like'],
  ['["https://secret.example"]', 'expected record'],
  ['{"bitcoin":"https://secret.example"}', 'expected array'],
  ['{"bitcoin":[]}', 'expected array to have >=1 items'],
  ['{"bitcoin":["wss://secret.example"]}', 'must be an http:// or https:// address'],
  ['{"bitcoin":["http://u:sec#ret@secret.example"]}', 'write %2F, %3F, %23 or %40'],
  ['{"bitcoin":["secret.example:8332"]}', 'must be an http:// or https:// address'],
])('refuses %s and repeats no URL', (text, reason) => {
  const { error } = ChainUrls.safeParse(text);
  expect(error?.message).toContain(reason);
  expect(error?.message).not.toContain('secret');
});

test('only networks with nodes are watched', () => {
  const networks = [{ name: 'bitcoin' }, { name: 'ethereum' }];
  expect(watchedNetworks({ networks, CHAIN_URLS: { ethereum: ['https://a.example'] } })).toEqual([networks[1]]);
});
