/** The bytes of a file in base64. */
export const base64Of = async (file: Blob): Promise<string> => {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
};

/** The path of a payment page on this gateway, for its preview. Undefined for a URL of another form. */
export const payPath = (url: string | undefined): string | undefined => {
  if (url === undefined || !URL.canParse(url)) return undefined;
  const { pathname } = new URL(url);
  return /^\/pay\/[\w-]+$/.test(pathname) ? pathname : undefined;
};
