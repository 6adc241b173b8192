/** RPC_INVALID_ADDRESS_OR_KEY: the node does not know the block or transaction. */
export const UNKNOWN = -5;

/** A height above the tip: RPC_INVALID_PARAMETER of Bitcoin Core, and -1 of btcd. */
export const ABOVE_TIP = [-8, -1];
