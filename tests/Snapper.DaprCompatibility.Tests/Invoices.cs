using Dapr.Actors;

namespace Snapper.DaprCompatibility.Tests;

/// <summary>An actor that goes on changing what it has set.</summary>
public interface IInvoice : IActor
{
    Task Run(string way);

    Task<Paper> Read();

    Task Touch(string remark);

    Task TouchOther();
}

public interface ICounter : IActor
{
    Task<int> Next();

    Task TouchInvoice(string remark);

    Task TouchOther();
}

/// <summary>A value that is changed in place.</summary>
public sealed class Paper
{
    public int Number { get; set; }

    public string Remark { get; set; } = "";

    public List<string> Lines { get; set; } = [];
}

/// <summary>As it stood on Dapr's SDK, but for the using directive.</summary>
public sealed class Invoice(ActorHost host) : Actor(host), IInvoice
{
    public async Task Run(string way)
    {
        var counter = ActorProxy.Create<ICounter>(new ActorId("c"), "Counter");
        var paper = new Paper();
        switch (way)
        {
            case "set":
                await StateManager.SetStateAsync("paper", paper);
                paper.Number = await counter.Next();
                paper.Remark = "numbered";
                break;
            case "getOrAdd":
                paper = await StateManager.GetOrAddStateAsync("paper", paper);
                paper.Number = await counter.Next();
                paper.Remark = "numbered";
                break;
            case "addOrUpdate":
                paper = await StateManager.AddOrUpdateStateAsync("paper", paper, (_, old) => old);
                paper.Number = await counter.Next();
                paper.Lines.Add($"{await counter.Next()}");
                break;
            case "only read":
                await StateManager.SetStateAsync("paper", new Paper { Remark = "stored" });
                await SaveStateAsync();
                await StateManager.ClearCacheAsync();
                paper = await StateManager.GetStateAsync<Paper>("paper");
                paper.Number = await counter.Next();
                break;
            case "saved":
                await StateManager.SetStateAsync("paper", paper);
                await SaveStateAsync();
                paper.Number = await counter.Next();
                break;
            case "set again":
                await StateManager.SetStateAsync("paper", paper);
                await counter.Next();
                await StateManager.SetStateAsync("paper", new Paper { Remark = "another" });
                paper.Remark = "the first one";
                break;
            case "removed":
                await StateManager.SetStateAsync("paper", paper);
                await counter.Next();
                await StateManager.RemoveStateAsync("paper");
                paper.Number = await counter.Next();
                break;
            case "unloaded":
                await StateManager.SetStateAsync("paper", paper);
                await counter.Next();
                await Assert.ThrowsAsync<InvalidOperationException>(() => StateManager.UnloadStateAsync("paper"));
                break;
            case "failed":
                await StateManager.SetStateAsync("paper", paper);
                paper.Number = await counter.Next();
                throw new InvalidOperationException("after the call");
            case "a call back reads":
                await StateManager.SetStateAsync("paper", paper);
                paper.Number = await counter.Next();
                paper.Remark = $"{(await Actor<IInvoice>("Invoice", Id.GetId()).Read()).Number} was seen";
                break;
            case "a call back writes another":
                await StateManager.SetStateAsync("paper", paper);
                await counter.TouchOther();
                paper.Number = await counter.Next();
                break;
            case "a call back writes":
                await StateManager.SetStateAsync("paper", paper);
                await counter.TouchInvoice("by the call back");
                paper = await StateManager.GetStateAsync<Paper>("paper");
                await StateManager.SetStateAsync("paper", paper);
                paper.Number = await counter.Next();
                break;
            case "a call back wins":
                await StateManager.SetStateAsync("paper", paper);
                await counter.TouchInvoice("by the call back");
                await counter.Next();
                break;
            case "both write":
                await StateManager.SetStateAsync("paper", paper);
                await counter.TouchInvoice("by the call back");
                paper.Number = await counter.Next();
                break;
            default:
                throw new ArgumentException(way);
        }
    }

    public Task<Paper> Read() => StateManager.GetStateAsync<Paper>("paper");

    public async Task Touch(string remark)
    {
        var paper = await StateManager.GetStateAsync<Paper>("paper");
        paper.Remark = remark;
        await StateManager.SetStateAsync("paper", paper);
    }

    public Task TouchOther() => StateManager.SetStateAsync("other", 1);
}

/// <summary>Whom an invoice asks, and who may ask back.</summary>
public sealed class Counter(ActorHost host) : Actor(host), ICounter
{
    public Task<int> Next() => StateManager.AddOrUpdateStateAsync("last", 1, (_, last) => last + 1);

    public Task TouchInvoice(string remark) =>
        ProxyFactory.CreateActorProxy<IInvoice>(new ActorId("a"), "Invoice").Touch(remark);

    public Task TouchOther() => ProxyFactory.CreateActorProxy<IInvoice>(new ActorId("a"), "Invoice").TouchOther();
}
