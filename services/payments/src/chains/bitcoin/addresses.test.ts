import { Address, NETWORK, OutScript, TEST_NETWORK } from '@scure/btc-signer';
import { addressOf } from './addresses.ts';

const main = addressOf('main');
const bytes = (digits: string) => Buffer.from(digits, 'hex');

// Sources: BIP173 and BIP350, test vectors; the first block of Bitcoin pays the key of the P2PKH address; BIP13's form.
test.each([
  ['0014751e76e8199196d454941c45d1b3a323f1433bd6', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
  [
    '00201863143c14c5166804bd19203356da136c985678cd4d27a1b8c6329604903262',
    'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3',
  ],
  [
    '512079be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798',
    'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0',
  ],
  ['76a91462e907b15cbf27d5425399ebf6f0fb50ebb88f1888ac', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'],
  ['a914b472a266d0bd89c13706a4132ccfb16f7c3b9fcb87', '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy'],
])('writes the script %s as an address', (script, address) => {
  expect(main(bytes(script))).toBe(address);
  expect(Buffer.from(OutScript.encode(Address(NETWORK).decode(address))).toString('hex')).toBe(script);
});

test('writes the addresses of test chains', () => {
  const script = bytes('0014751e76e8199196d454941c45d1b3a323f1433bd6');
  expect(addressOf('test')(script)).toBe('tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx');
  expect(addressOf('regtest')(script)).toMatch(/^bcrt1q/);
  const legacy = bytes('76a91462e907b15cbf27d5425399ebf6f0fb50ebb88f1888ac');
  expect(Address(TEST_NETWORK).decode(addressOf('regtest')(legacy)!)).toMatchObject({ type: 'pkh' });
});

test.each([
  ['a key without a hash', `21${'02'.repeat(33)}ac`],
  ['data', '6a0401020304'],
  ['a program of another version', '5114751e76e8199196d454941c45d1b3a323f1433bd6'],
  ['a program of another length', '0013751e76e8199196d454941c45d1b3a323f1433b'],
  ['a hash without its end', '76a91462e907b15cbf27d5425399ebf6f0fb50ebb88f188800'],
  ['nothing', ''],
])('finds no address in %s', (_, script) => expect(main(bytes(script))).toBeNull());
