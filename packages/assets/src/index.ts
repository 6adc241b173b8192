export * from './evm-address.ts';
