import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const Compiled = z.object({
  contracts: z.record(
    z.enum(['TestToken', 'Forwarder']),
    z.object({ bytecode: z.templateLiteral(['0x', z.string()]), selectors: z.record(z.string(), z.string()) }),
  ),
});

const { contracts } = Compiled.parse(
  JSON.parse(readFileSync(join(import.meta.dirname, '../contracts/compiled.json'), 'utf8')),
);

/** Name of a contract in `contracts/`. */
export type ContractName = keyof typeof contracts;

/** Data of a transaction that deploys a contract. */
export const deploymentData = (contract: ContractName, ...values: readonly AbiValue[]): string =>
  contracts[contract].bytecode + encodeArguments(values);

/** Data of a transaction or call to a function, named as in `transfer(address,uint256)`. */
export const callData = (contract: ContractName, signature: string, ...values: readonly AbiValue[]): string => {
  const selector = contracts[contract].selectors[signature];
  if (!selector) throw new Error(`${contract} has no function ${signature}`);
  return `0x${selector}${encodeArguments(values)}`;
};

/** A value in a call of a contract: an address, a number, or a text. */
export type AbiValue = { readonly address: string } | bigint | string;

const WORD = 64;

/** Encodes arguments as contracts read them, in hex digits. Source: Solidity, contract ABI specification. */
const encodeArguments = (values: readonly AbiValue[]): string => {
  let tail = '';
  const head = values.map((value) => {
    if (typeof value === 'bigint') return word(value.toString(16));
    if (typeof value === 'object') return word(value.address.slice(2).toLowerCase());
    const start = values.length * (WORD / 2) + tail.length / 2;
    tail += encodedText(value);
    return word(start.toString(16));
  });
  return head.join('') + tail;
};

/** Length and bytes, filled up to whole words. */
const encodedText = (text: string): string => {
  const bytes = Buffer.from(text, 'utf8');
  const digits = bytes.toString('hex');
  return word(bytes.length.toString(16)) + digits.padEnd(Math.ceil(digits.length / WORD) * WORD, '0');
};

const word = (digits: string): string => digits.padStart(WORD, '0');
