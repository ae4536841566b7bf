/**
 * A key pair's ciphertexts of `correct horse`, made by the controller's own Go package (`crypto.HybridEncrypt`), by
 * label. Lines are joined.
 */
export const SEALED_BY_KUBESEAL: Readonly<Record<string, string>> = {
  'shop/db': [
    'AQAu4TENpoHdxYpEjVyqH57vonnoqFz1YxglZKI0aNhrZikBER/KOKi6wjGK+k8dNQfhv5QuHPScclekhv9m5BH8NEvvEv0z',
    '3ih5/YygfLFl+fkl80SF07E1WgkBXFK8ahoLH/tiVTeAmeN6BzdrarA5JeUCC/9Sc4hip9k9t8EYTJs9xHDRw3uG4ZfFwjWX',
    'LFXHAif6nW8xOuNmHZXBbbdT79D1y3asVybtwT5WhB/rYr8nUGTA+4XDHOaX+0C7nF23WaAuANqvim7SntpeTOhLwPt9Moav',
    'zNK/JlIVd8eMXYpCj99dYAmeVGKgNA/+Dxc4iSKboTIrSOxetoYug1c10ladMsVgN+qjpEpylGsFV8zfYBV+/azCdDorAeE=',
  ].join(''),
  shop: [
    'AQBQaYg7UDiVSspiSEJNJwk9AwpHZdDab7EurwQriVFjIRCUfS6m/4jvx4VkMjSQ+0hX5ZbVF7YMys6Vx5xijLdddDOFUj5D',
    'Q3Cr6XeWaEWq8n9qsExtyaszIaxNfwP+IggLaMK+vbCGq+SHTh4NvUsx6ZDuMDAmPU2m0W/ytN2vN9lQmx0KEgOXz+QWuQno',
    'q/wsLkhfhCvdrOtMJa60GyrwvDOyEgWno7ae/YQm8IXry81Lfg9ye0uIWS6ESJjTWu8O78TCK6SSw/V8Y8fDw25jxUSMckOX',
    'MTAGNcASJ+TwDGHGqECBIPIDPR2PX10DR9efCOdz81tDgB/wInPY3CWUr6QmQlic3DfiY5PVA/nLD6shpNCeU7X7Q9eA1Rg=',
  ].join(''),
  '': [
    'AQAmFRHSRvL3OOJxx8g0PJou7iRT6Mr/8jq/6JC4yxUNUvMomschayGwFCTFFZFiyZ/LGbZTe5R5fbIm8JeBl4aGOvLEUGEl',
    '7mxoYKPR7rynUkZC61Yk0iKhabQwfiP0uU7J/xkDDl/Ds+3xJ5FmtMVfp1bd7lBmhN/i5Z5bur+d0sj1yfKeWRUhLZ1la3V0',
    'nuhX1bLYHl5AkE4JzAIUA1Vc0NPkO+sA4F5e29a5x7KNuQUo9EVDx9lSVhP4m9qB3lOwjULJpXxlA9aarEwG1jC7/aeLehiI',
    'dKQUuetTu3suhgwPSnp5ovoFjjcmJaTwKmdgZ7TuYi3/YYHf30lFjyffl4n5mdsLTLjv3d8SaUOvHVKd9SduLZobxWbX3BU=',
  ].join(''),
}
