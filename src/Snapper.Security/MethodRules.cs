using System.Collections.Frozen;

namespace Snapper.Security;

/// <summary>Who may start transactions with an actor method, as configuration says it.</summary>
/// <param name="Type">The actor type.</param>
/// <param name="Method">The method; <c>*</c>: every one of the type.</param>
/// <param name="Callers">Names of tokens, <c>role:operator</c>, or <c>app:shop</c> for a Dapr app id.</param>
public sealed record MethodRule(string Type, string Method, IReadOnlyList<string> Callers);

/// <summary>
/// Rights per method. A method that no rule names is open to all who may run transactions; one that rules name is open to those whom one of them lists. Only roots are checked: what a
/// method calls is its own business.
/// </summary>
public sealed class MethodRules
{
    private const string Any = "*";
    private const string AppPrefix = "app:";
    private const string RolePrefix = "role:";

    private readonly FrozenDictionary<(string Type, string Method), FrozenSet<string>> _callers;

    /// <exception cref="FormatException">A rule is wrong; the message says which.</exception>
    public MethodRules(IEnumerable<MethodRule> rules)
    {
        ArgumentNullException.ThrowIfNull(rules);
        var callers = new Dictionary<(string, string), HashSet<string>>();
        foreach (var rule in rules)
        {
            if (string.IsNullOrEmpty(rule.Type) || string.IsNullOrEmpty(rule.Method)) throw new FormatException("a rule needs type and method ('*': all of the type).");
            if (rule.Callers is not { Count: > 0 }) throw new FormatException($"the rule for {rule.Type}.{rule.Method} names no callers.");
            if (!callers.TryGetValue((rule.Type, rule.Method), out var known)) callers[(rule.Type, rule.Method)] = known = new HashSet<string>(StringComparer.Ordinal);
            foreach (var caller in rule.Callers) known.Add(Checked(rule, caller));
        }

        _callers = callers.ToFrozenDictionary(rule => rule.Key, rule => rule.Value.ToFrozenSet(StringComparer.Ordinal));
    }

    /// <summary>There is none.</summary>
    public bool IsEmpty => _callers.Count == 0;

    /// <summary>Some rule names a Dapr app.</summary>
    public bool NamesApps => _callers.Values.Any(callers => callers.Any(caller => caller.StartsWith(AppPrefix, StringComparison.Ordinal)));

    /// <summary>Looks for a rule that names what there is not: it would guard nothing, or let no caller in.</summary>
    /// <param name="hasMethod">Whether an actor type has a method; with <c>*</c>, whether there is the type.</param>
    /// <param name="tokens">The names of the tokens.</param>
    /// <returns>What is wrong; null: nothing.</returns>
    public string? FindUnknown(Func<string, string, bool> hasMethod, IReadOnlySet<string> tokens)
    {
        ArgumentNullException.ThrowIfNull(hasMethod);
        ArgumentNullException.ThrowIfNull(tokens);
        foreach (var ((type, method), callers) in _callers)
        {
            if (!hasMethod(type, Any))
            {
                return $"a rule names the actor type {type}, which no worker hosts.";
            }

            if (!hasMethod(type, method))
            {
                return $"a rule names {type}.{method}, and {type} has no such method.";
            }

            foreach (var caller in callers)
            {
                var isToken = !caller.StartsWith(AppPrefix, StringComparison.Ordinal)
                    && !caller.StartsWith(RolePrefix, StringComparison.Ordinal);
                if (isToken && !tokens.Contains(caller))
                {
                    return $"the rule for {type}.{method} names '{caller}', and there is no token of that name.";
                }
            }
        }

        return null;
    }

    /// <summary>Whether a principal may start a transaction with a method.</summary>
    /// <param name="principal">Who asks.</param>
    /// <param name="app">The Dapr app that asks, where that is certain; null: unknown.</param>
    /// <param name="type">The root's type.</param>
    /// <param name="method">The root's method.</param>
    public bool Allow(Principal principal, string? app, string type, string method)
    {
        ArgumentNullException.ThrowIfNull(principal);
        var hasExact = _callers.TryGetValue((type, method), out var exact);
        var hasAny = _callers.TryGetValue((type, Any), out var any);
        return (!hasExact && !hasAny) || (hasExact && Names(exact!, principal, app)) || (hasAny && Names(any!, principal, app));
    }

    private static bool Names(FrozenSet<string> callers, Principal principal, string? app) =>
        (principal.Role.IsOfToken() && (callers.Contains(principal.Name) || callers.Contains(RolePrefix + principal.Role.Name())))
        || (app is not null && callers.Contains(AppPrefix + app));

    private static string Checked(MethodRule rule, string caller)
    {
        if (string.IsNullOrWhiteSpace(caller)) throw new FormatException($"the rule for {rule.Type}.{rule.Method} has an empty caller.");
        if (caller.StartsWith(RolePrefix, StringComparison.Ordinal) && Roles.OfToken(caller[RolePrefix.Length..]) is null)
        {
            throw new FormatException($"the rule for {rule.Type}.{rule.Method} names '{caller}': there is no such role.");
        }

        return caller;
    }
}
