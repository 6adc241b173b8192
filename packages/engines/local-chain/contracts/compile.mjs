// Writes compiled.json. Run it in a folder that has the compiler: npm i solc@0.8.37 && node …/contracts/compile.mjs
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';

const solc = createRequire(join(process.cwd(), 'package.json'))('solc');
const settings = {
  evmVersion: 'paris',
  optimizer: { enabled: true, runs: 200 },
  metadata: { appendCBOR: false, bytecodeHash: 'none' },
};
const names = ['TestToken', 'Forwarder'];
const sources = Object.fromEntries(
  names.map((name) => [`${name}.sol`, { content: readFileSync(join(import.meta.dirname, `${name}.sol`), 'utf8') }]),
);
const outputSelection = { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.methodIdentifiers'] } };
const input = { language: 'Solidity', sources, settings: { ...settings, outputSelection } };
const { contracts, errors = [] } = JSON.parse(solc.compile(JSON.stringify(input)));
if (errors.length > 0) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join('\n'));
const compiled = names.map((name) => {
  const { abi, evm } = contracts[`${name}.sol`][name];
  return [name, { bytecode: `0x${evm.bytecode.object}`, selectors: evm.methodIdentifiers, abi }];
});
const content = { compiler: `solc ${solc.version()}`, settings, contracts: Object.fromEntries(compiled) };
writeFileSync(join(import.meta.dirname, 'compiled.json'), `${JSON.stringify(content, null, 2)}\n`);
