export function stripTypes(
  fileName: string,
  source: string,
  options?: { readonly rewritesExtensions?: boolean },
): Promise<string>;
