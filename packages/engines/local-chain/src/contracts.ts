import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type AbiValue, encodeArguments } from './abi.ts';

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
