import { checkpointText } from './checkpoint.ts';
import { newSigningKey, noteSigner, openNote } from './note.ts';

// The example of golang.org/x/mod/sumdb/note.
const KEY = 'PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz';
const VERIFIER = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW';
const TEXT = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n";
const NOTE = `${TEXT}
— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=
`;

test('signs and opens a note as Go does', () => {
  const signer = noteSigner(KEY);
  expect(signer.verifierKey).toBe(VERIFIER);
  expect(signer.sign(TEXT)).toBe(NOTE);
  expect(openNote(NOTE, VERIFIER)).toBe(TEXT);
});

test('opens a note that others have signed too', () => {
  const other = noteSigner(newSigningKey('witness.example/1'))
    .sign(TEXT)
    .slice(TEXT.length + 1);
  expect(openNote(`${TEXT}\n${other}${NOTE.slice(TEXT.length + 1)}`, VERIFIER)).toBe(TEXT);
});

test('opens no note that was changed, or that this key did not sign', () => {
  const { verifierKey } = noteSigner(newSigningKey('PeterNeumann'));
  expect(openNote(NOTE, verifierKey)).toBeNull();
  expect(openNote(NOTE.replace('answer', 'problem'), VERIFIER)).toBeNull();
  expect(openNote(NOTE.replace('— PeterNeumann', '— Peter'), VERIFIER)).toBeNull();
  for (const note of ['', TEXT, `${TEXT}\n`, `${TEXT}\n— PeterNeumann x08go\n`, NOTE.replace('— ', '')])
    expect(openNote(note, VERIFIER)).toBeNull();
});

test.each(['', KEY.replace('PRIVATE', 'PUBLIC'), KEY.replace('+AY', '+BY'), `${KEY}AAAA`, VERIFIER])(
  '"%s" signs nothing',
  (key) => {
    expect(() => noteSigner(key)).toThrow('is not a key for signed notes');
  },
);

test('a private key whose hash is of another name or key signs nothing', () => {
  expect(() => noteSigner(KEY.replace('PeterNeumann', 'Peter'))).toThrow('has the key hash c74f20a3, but it is');
});

test.each(['', KEY, VERIFIER.replace('c74f20a3', 'c74f20a4'), VERIFIER.replace('+AR', '+BR')])(
  '"%s" opens nothing',
  (key) => {
    expect(() => openNote(NOTE, key)).toThrow('is not a public key of signed notes');
  },
);

test.each(['', 'a b', 'a+b', 'a\n'])('no key can have the name "%s"', (name) => {
  expect(() => newSigningKey(name)).toThrow(RangeError);
});

test('a checkpoint is the name of the log, its size and its root', () => {
  const root = Buffer.from('CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=', 'base64');
  expect(checkpointText({ origin: 'example.com/log', size: 20_852_163, root })).toBe(
    'example.com/log\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n',
  );
});
