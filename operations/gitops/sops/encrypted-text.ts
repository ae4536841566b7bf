const BASE64 = '[A-Za-z0-9+/]+={0,2}'
const ENCRYPTED = new RegExp(`^ENC\\[AES256_GCM,data:${BASE64},iv:${BASE64},tag:${BASE64},type:str\\]$`)

/** Whether a text is what SOPS makes of a value; of an empty one it makes nothing. */
export const isEncryptedText = (text: unknown): boolean =>
  text === '' || (typeof text === 'string' && ENCRYPTED.test(text))
