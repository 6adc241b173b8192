import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import { ConfigError } from './config.ts';
import { describeIssue, validationDetails } from '../http/validation-messages.ts';

/** Reads the JSON file that a variable names. Throws ConfigError that names the variable, the file and every fault. */
export const readJsonFile = <T extends z.ZodType>(variable: string, path: string, schema: T): z.output<T> => {
  const parsed = schema.safeParse(jsonAt(variable, path), { error: describeIssue });
  if (parsed.success) return parsed.data;
  throw invalidFile(
    variable,
    path,
    validationDetails(parsed.error).map((fault) => `${fault.path}: ${fault.message}`),
  );
};

/** The error for a file with faults. */
export const invalidFile = (variable: string, path: string, faults: readonly string[]): ConfigError =>
  new ConfigError(`${variable} (${path}) is invalid:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);

const jsonAt = (variable: string, path: string): unknown => {
  const text = textAt(variable, path);
  try {
    return JSON.parse(text);
  } catch {
    // Without the message and without a cause: the parser quotes the file, which may have secrets.
    throw invalidFile(variable, path, ['it is not valid JSON']);
  }
};

const textAt = (variable: string, path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new ConfigError(`${variable} (${path}) cannot be read: ${(cause as Error).message}`, { cause });
  }
};
