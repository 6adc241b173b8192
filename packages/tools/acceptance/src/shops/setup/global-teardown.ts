export default async (): Promise<void> => {
  await (globalThis as { stopShops?: () => Promise<void> }).stopShops?.();
};
