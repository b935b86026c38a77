namespace System.Runtime.CompilerServices;

/// <summary>Lets records compile for netstandard2.0, which does not have this type.</summary>
internal static class IsExternalInit;
