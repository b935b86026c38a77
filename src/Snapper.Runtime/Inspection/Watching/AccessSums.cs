using Snapper.Contracts;
using Snapper.Protocol.Batches;
using Snapper.Runtime.Door;

namespace Snapper.Runtime.Inspection.Watching;

/// <summary>Declared against touched, by method of the root: what a too wide declaration costs others. Guarded by the watch.</summary>
public sealed class AccessSums
{
    private readonly SortedDictionary<(string Type, string Method), Sums> _methods = [];

    public void Clear() => _methods.Clear();

    public void Add(string type, string method, ActorAccess[] declared, DeclaredAccess[] touched, bool violated)
    {
        var key = (type, method);
        if (!_methods.TryGetValue(key, out var sums))
        {
            _methods.Add(key, sums = new Sums());
        }

        sums.Transactions++;
        sums.DeclaredActors += declared.Length;
        sums.TouchedActors += touched.Length;
        foreach (var access in declared)
        {
            sums.DeclaredCalls += access.Calls;
        }

        foreach (var access in touched)
        {
            sums.MadeCalls += access.Calls;
        }

        sums.OverDeclared += touched.Length < declared.Length ? 1 : 0;
        sums.Violations += violated ? 1 : 0;
    }

    public List<MethodAccessView> View()
    {
        var views = new List<MethodAccessView>(_methods.Count);
        foreach (var ((type, method), sums) in _methods)
        {
            views.Add(new MethodAccessView(
                type, method, sums.Transactions, sums.DeclaredActors, sums.TouchedActors, sums.DeclaredCalls, sums.MadeCalls, sums.OverDeclared, sums.Violations));
        }

        return views;
    }

    private sealed class Sums
    {
        public long Transactions;
        public long DeclaredActors;
        public long TouchedActors;
        public long DeclaredCalls;
        public long MadeCalls;
        public long OverDeclared;
        public long Violations;
    }
}
