// One line that says what an export is, taken from the source as it is written. The checker could print types too,
// but it orders unions by what it happened to see first, and a list that changes by itself is no use in a review.
import ts from "typescript";

const PRINTER = ts.createPrinter({ removeComments: true });

/** `declarations` are those of one exported symbol: a value, a type, or a companion pair of both. */
export function signatureOf(declarations: readonly ts.Declaration[]): string {
  const functions = declarations.filter((declaration) => ts.isFunctionDeclaration(declaration));
  const others = declarations.filter((declaration) => !ts.isFunctionDeclaration(declaration)).map(describe);
  return [...overloads(functions), ...others].join(" & ");
}

/** With overloads, the implementation's own signature is not public. */
function overloads(functions: readonly ts.FunctionDeclaration[]): string[] {
  const bodiless = functions.filter((declaration) => declaration.body === undefined);
  const visible = bodiless.length > 0 ? bodiless : functions;
  if (visible.length === 0) return [];
  return [`function ${visible.map((declaration) => callable(declaration)).join("; ")}`];
}

function describe(declaration: ts.Declaration): string {
  if (ts.isClassDeclaration(declaration)) return describeClass(declaration);
  if (ts.isInterfaceDeclaration(declaration)) return describeInterface(declaration);
  if (ts.isTypeAliasDeclaration(declaration))
    return `type${typeParameters(declaration)} = ${describeType(declaration.type)}`;
  if (ts.isVariableDeclaration(declaration)) return describeVariable(declaration);
  if (ts.isNamespaceExport(declaration) || ts.isSourceFile(declaration)) return "namespace";
  throw new Error(
    `cannot list an export that is a ${ts.SyntaxKind[declaration.kind]}: ${print(declaration).slice(0, 80)}`,
  );
}

function describeVariable({ type, initializer }: ts.VariableDeclaration): string {
  if (type !== undefined) return `const: ${print(type)}`;
  if (initializer === undefined) return "const";
  if (ts.isArrowFunction(initializer) || ts.isFunctionExpression(initializer))
    return `function ${callable(initializer)}`;
  if (isPlainValue(initializer)) return `const = ${print(initializer)}`;
  const companion = ts.isAsExpression(initializer) ? initializer.expression : initializer;
  return ts.isObjectLiteralExpression(companion) ? describeObject(companion) : "const";
}

/** An object with methods by the names of its members, such as the companion of a type. A table is only a const. */
function describeObject({ properties }: ts.ObjectLiteralExpression): string {
  if (!properties.some((property) => ts.isMethodDeclaration(property))) return "const";
  const members = properties.map((property) => {
    if (ts.isSpreadAssignment(property)) return print(property);
    return `${print(property.name)}${ts.isMethodDeclaration(property) ? "()" : ""}`;
  });
  return `const { ${members.sort().join("; ")} }`;
}

/** A limit's value is part of the contract, so it is shown: `4096`, `-1`, `16 * 1024`, `"released"`. */
function isPlainValue(node: ts.Expression): boolean {
  if (ts.isLiteralExpression(node)) return true;
  if (ts.isPrefixUnaryExpression(node)) return isPlainValue(node.operand);
  if (ts.isParenthesizedExpression(node)) return isPlainValue(node.expression);
  return ts.isBinaryExpression(node) && isPlainValue(node.left) && isPlainValue(node.right);
}

function describeClass(declaration: ts.ClassDeclaration): string {
  const constructors = declaration.members.filter((member) => ts.isConstructorDeclaration(member));
  const bodiless = constructors.filter((member) => member.body === undefined);
  const visible = (bodiless.length > 0 ? bodiless : constructors).map(
    (member) => `${modifiersOf(member)}new (${parameters(member)})`,
  );
  const members = declaration.members
    .filter((member) => !ts.isConstructorDeclaration(member) && isPublic(member))
    .map(memberName);
  return `class${typeParameters(declaration)}${heritage(declaration)} { ${[...visible, ...new Set(members.sort())].join("; ")} }`;
}

function describeInterface(declaration: ts.InterfaceDeclaration): string {
  const members = declaration.members.map((member) => (member.name === undefined ? print(member) : memberName(member)));
  return `interface${typeParameters(declaration)}${heritage(declaration)} { ${[...new Set(members.sort())].join("; ")} }`;
}

/** A union of plain objects by its kinds and the names of their fields; any other type as it is written. */
function describeType(type: ts.TypeNode): string {
  if (ts.isUnionTypeNode(type)) return type.types.map(describeType).join(" | ");
  if (!ts.isTypeLiteralNode(type)) return print(type);
  return `{ ${type.members.map(describeField).join("; ")} }`;
}

function describeField(member: ts.TypeElement): string {
  if (member.name === undefined) return print(member).replace(/;$/, "");
  const isLiteral = ts.isPropertySignature(member) && member.type !== undefined && ts.isLiteralTypeNode(member.type);
  return isLiteral ? `${print(member.name)}: ${print(member.type!)}` : memberName(member);
}

function heritage({ heritageClauses }: ts.ClassDeclaration | ts.InterfaceDeclaration): string {
  return (heritageClauses ?? []).map((clause) => ` ${print(clause).trim()}`).join("");
}

function isPublic(member: ts.ClassElement): boolean {
  if (member.name === undefined || ts.isPrivateIdentifier(member.name)) return false;
  return (ts.getCombinedModifierFlags(member) & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected)) === 0;
}

function memberName(member: ts.ClassElement | ts.TypeElement): string {
  const isStatic = (ts.getCombinedModifierFlags(member) & ts.ModifierFlags.Static) !== 0;
  const isMethod = ts.isMethodDeclaration(member) || ts.isMethodSignature(member);
  return `${isStatic ? "static " : ""}${print(member.name!)}${isMethod ? "()" : ""}`;
}

function modifiersOf(member: ts.ConstructorDeclaration): string {
  const flags = ts.getCombinedModifierFlags(member);
  if ((flags & ts.ModifierFlags.Private) !== 0) return "private ";
  return (flags & ts.ModifierFlags.Protected) !== 0 ? "protected " : "";
}

function callable(node: ts.SignatureDeclaration): string {
  return `${typeParameters(node)}(${parameters(node)})${node.type === undefined ? "" : `: ${print(node.type)}`}`;
}

function typeParameters({
  typeParameters: list,
}: {
  readonly typeParameters?: ts.NodeArray<ts.TypeParameterDeclaration> | undefined;
}): string {
  return list === undefined ? "" : `<${list.map(print).join(", ")}>`;
}

/** A default makes a parameter optional; what the default is, is not part of the type. */
function parameters(node: ts.SignatureDeclaration): string {
  return node.parameters
    .map(({ dotDotDotToken, name, questionToken, type, initializer }) => {
      const isOptional = questionToken !== undefined || initializer !== undefined;
      return `${dotDotDotToken === undefined ? "" : "..."}${print(name)}${isOptional ? "?" : ""}${type === undefined ? "" : `: ${print(type)}`}`;
    })
    .join(", ");
}

function print(node: ts.Node): string {
  return PRINTER.printNode(ts.EmitHint.Unspecified, node, node.getSourceFile())
    .replaceAll(/\s+/g, " ")
    .replaceAll(/, ([}\])])/g, " $1");
}
