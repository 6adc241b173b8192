/** Whether this is a name, and no IP address: browsers make passkeys for names alone. */
export const isHostName = (host: string): boolean => !host.startsWith('[') && !/^[\d.]+$/.test(host);
