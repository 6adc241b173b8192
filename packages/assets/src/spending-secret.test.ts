import { spendingSecretIn } from './spending-secret.ts';

// The first test vector of BIP39, and keys of its wallet: public knowledge.
const PHRASE = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about';
const XPUB =
  'xpub6DCoCpSuQZB2jawqnGMEPS63ePKWkwWPH4TU45Q7LPXWuNd8TMtVxRrgjtEshuqpK3mdhaWHPFsBngh5GFZaM6si3yZdUsT8ddYM3PwnATt';

test.each([
  ['12 words', PHRASE],
  ['24 words on lines', `${PHRASE} ${PHRASE}`.replaceAll(' ', '\n')],
  [
    'numbered words',
    PHRASE.split(' ')
      .map((word, n) => `${n + 1}. ${word}`)
      .join('\n'),
  ],
  ['words in capitals, with commas', PHRASE.toUpperCase().replaceAll(' ', ', ')],
])('recognizes a seed phrase of %s', (_, text) => expect(spendingSecretIn(text)).toBe('seed phrase'));

test.each([
  [
    'an xprv',
    'xprv9s21ZrQH143K3GJpoapnV8SFfukcVBSfeCficPSGfubmSFDxo1kuHnLisriDvSnRRuL2Qrg5ggqHKNVpxR86QEC8w35uxmGoggxtQTPvfUu',
  ],
  ['a zprv', `zprv${'A1b2C3d4'.repeat(13)}`],
  ['a descriptor with one', "wpkh([73c5da0a/84'/0'/0']xprv9s21ZrQH143K3GJpoapnV8SFfukcVBSfeCficPSGfubmSFDx/0/*)"],
  ['32 bytes', `0x${'4f'.repeat(32)}`],
  ['a WIF key', 'L4rK1yDtCWekvXuE6oXD9jCYfFNV2cWRpVuPLBcCU2z8TrisoyY1'],
])('recognizes a private key: %s', (_, text) => expect(spendingSecretIn(text)).toBe('private key'));

test.each([
  ['an extended public key', XPUB],
  [
    'one whose digits stand between letters',
    'tpubDC5FSnBiZDMmhiuCmWAYsLwgLYrrT9rAqvTySfuCCrgsWz8wxMXUS9Tb9iVMvcRbvFcAHGkMD5Kx8koh4GquNGNTfohfk7pgjhaPCdXpoba',
  ],
  ['an address', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'],
  ['a few words', 'this is not a key'],
  ['nothing', ''],
])('lets %s pass', (_, text) => expect(spendingSecretIn(text)).toBeNull());
