const BASE64 = '[A-Za-z0-9+/]+={0,2}'
const ENCRYPTED = new RegExp(`^ENC\\[AES256_GCM,data:${BASE64},iv:${BASE64},tag:${BASE64},type:str\\]$`)

/** True if a text is a value encrypted by SOPS. An empty text stays empty, so it counts as encrypted. */
export const isEncryptedText = (text: unknown): boolean =>
  text === '' || (typeof text === 'string' && ENCRYPTED.test(text))
